/** Who may call a route: what its author asks of callers, and whether a request proves it. */
import { timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { BadRequest, Forbidden, Internal, NotFound, SvcError, Unauthorized } from "../../../../lib/errors.ts";
import { sha256 } from "../../../../lib/text/ids.ts";
import { optional, orElse } from "../../../../lib/zod.ts";
import { canRead } from "../../../../platform/access/permissions.ts";
import type { Context, WorkspaceContext } from "../../../../platform/app/context.ts";
import { bringsToken } from "../../../../platform/http/door/credentials.ts";
import { resourceForServer, valueForCaller } from "../../../assets/resources/references.ts";
import { getResource, resourceExists } from "../../../assets/resources/service.ts";
import { readValueForServer } from "../../../assets/variables/server-value.ts";
import { getVariable, variableExists } from "../../../assets/variables/service.ts";
import { type KeptRule, signedRequest, verifiedRequest } from "../../../runs/submit/signatures.ts";
import { resolveTarget, targetAt } from "../../../runs/submit/target.ts";
import { resolveMember } from "../../../tenancy/people/members.ts";
import { checkScopes } from "../../../tenancy/tokens/scopes.ts";
import type { HttpTrigger } from "../tables.ts";

type Rule = Pick<
  HttpTrigger,
  "authentication_method" | "authentication_resource_path" | "signature" | "http_method"
>;

const VARIABLE = "$var:";
const API_KEY_HEADER = "x-api-key";

/**
 * Checks what a route's author says of its authentication. A secret is one that the author may read: what the route
 * accepts would tell the others of it. One that is not there yet may come later: until then nobody is let in.
 * @throws BadRequest naming the field
 */
export async function checkSecrets(ctx: WorkspaceContext, rule: Rule): Promise<void> {
  const { authentication_method: method, authentication_resource_path: path, signature } = rule;
  if (signature !== null && method !== "signature") {
    throw new BadRequest("`signature` goes with `authentication_method` signature, and only with it");
  }
  if (method === "signature") {
    if (rule.http_method !== "post") throw new BadRequest("`http_method`: what is signed is a `post`");
    if (signature) return readable("signature.secret", () => getVariable(ctx, signature.secret));
    if (path === null) {
      throw new BadRequest("`signature` is missing, or a resource of it in `authentication_resource_path`");
    }
    return readableSecret(ctx, path, (value) => toSignature(path, value));
  }
  if (method !== "api_key" && method !== "basic_http") {
    if (path === null) return;
    throw new BadRequest("`authentication_resource_path` goes with api_key, basic_http and signature");
  }
  if (path === null)
    throw new BadRequest(`\`authentication_resource_path\` is missing: ${method} needs a secret`);
  await readableSecret(ctx, path, (value) => toSecret(method, path, value));
}

/** @throws BadRequest for what is there, and not the caller's to read or no such secret */
async function readableSecret(
  ctx: WorkspaceContext,
  path: string,
  check: (value: unknown) => unknown,
): Promise<void> {
  if (!(await isThere(ctx, path))) return;
  await readable("authentication_resource_path", async () => {
    if (path.startsWith(VARIABLE)) return getVariable(ctx, path.slice(VARIABLE.length));
    if (!(await isWhole(ctx, path))) return getResource(ctx, path);
    await valueForCaller(ctx, path);
    return check(await resourceForServer(ctx, path));
  });
}

const isThere = (ctx: WorkspaceContext, path: string) =>
  path.startsWith(VARIABLE) ? variableExists(ctx, path.slice(VARIABLE.length)) : resourceExists(ctx, path);

/** Whether all that a resource refers to at its top is there: secrets may come later than what names them. */
async function isWhole(ctx: WorkspaceContext, path: string): Promise<boolean> {
  const { value } = await getResource(ctx, path);
  for (const field of Object.values(value ?? {})) {
    if (typeof field !== "string" || !field.startsWith(VARIABLE)) continue;
    if (!(await variableExists(ctx, field.slice(VARIABLE.length)))) return false;
  }
  return true;
}

async function readable(field: string, read: () => Promise<unknown>): Promise<void> {
  try {
    await read();
  } catch (cause) {
    if (cause instanceof NotFound || cause instanceof BadRequest || cause instanceof Forbidden) {
      throw new BadRequest(`\`${field}\`: ${cause.message}`, { cause });
    }
    throw cause;
  }
}

/** Providers that sign in a way of their own. */
const PROVIDERS: Record<string, KeptRule["scheme"]> = { github: "github", slack: "slack", stripe: "stripe" };

const SignatureAuth = z.object({
  secret_key: z.string().min(1),
  signature_provider: optional(z.string()),
  authentication_config: optional(
    z.object({
      signature_header_name: z.string().min(1),
      algorithm: orElse(z.enum(["sha1", "sha256", "sha512"]), "sha256" as const),
      signature_prefix: optional(z.string()),
    }),
  ),
});

/**
 * A resource of type `signature_auth`: how requests are signed, and the secret.
 * @throws BadRequest when it does not hold that, or names a provider that is not known
 */
function toSignature(path: string, value: unknown): { rule: KeptRule; secret: string } {
  const { success, data } = SignatureAuth.safeParse(value);
  if (!success) {
    throw new BadRequest(
      `resource ${path} does not say how requests are signed: it needs \`secret_key\`, \`signature_provider\`, and for the provider Custom \`authentication_config\``,
    );
  }
  const { secret_key: secret, signature_provider = "Custom", authentication_config: config } = data;
  const scheme = PROVIDERS[signature_provider.toLowerCase()];
  if (scheme) return { rule: { scheme }, secret };
  if (!config || signature_provider.toLowerCase() !== "custom") {
    throw new BadRequest(
      `resource ${path}: signatures of ${signature_provider.slice(0, 40)} are not known here; use Custom, GitHub, Slack or Stripe`,
    );
  }
  const { signature_header_name, algorithm: hash, signature_prefix: prefix } = config;
  const header = checkHeader(path, signature_header_name, "signature_header_name");
  return { rule: { scheme: "hmac_sha256", header, hash, prefix }, secret };
}

/** What a caller must send: in which header, and its value. */
interface Secret {
  header: string;
  value: string;
}

/** @throws BadRequest when the resource does not hold it */
function toSecret(method: "api_key" | "basic_http", path: string, value: unknown): Secret {
  const fields = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  const text = (name: string) => {
    const found = fields[name];
    if (typeof found === "string" && found !== "") return found;
    throw new BadRequest(`resource ${path} holds no text in \`${name}\`, which ${method} needs`);
  };
  if (method === "basic_http")
    return { header: "authorization", value: basic(`${text("username")}:${text("password")}`) };
  const header = fields.api_key_header === undefined ? API_KEY_HEADER : text("api_key_header");
  return { header: checkHeader(path, header), value: text("api_key_secret") };
}

function checkHeader(path: string, header: string, field = "api_key_header"): string {
  if (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header)) return header.toLowerCase();
  throw new BadRequest(`resource ${path}: \`${field}\` must be the name of a header (RFC 9110 §5.1)`);
}

/** RFC 7617 §2 */
function basic(pair: string): string {
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

export interface Proven {
  /** The caller's request, or the same with its body read and verified. */
  request: Request;
  /** The header that proved it, which is none of the script's business. */
  header: string | undefined;
}

/**
 * @param owner in whose name the route runs
 * @throws Unauthorized, Forbidden, NotFound (the caller may not know of the route), Internal when the secret cannot be had
 */
export async function authenticate(
  ctx: Context,
  owner: WorkspaceContext,
  route: HttpTrigger,
  limit: number,
): Promise<Proven> {
  const { request } = ctx;
  switch (route.authentication_method) {
    case "none":
      return { request, header: undefined };
    case "token":
      await requireRights(ctx, route);
      return { request, header: undefined };
    case "signature": {
      const { workspace_id, signature: rule } = route;
      const verified = rule
        ? await verifiedRequest(ctx.app, request, { workspace_id, rule, limit })
        : await signedRequest(ctx.app, request, { ...(await signatureOf(owner, route)), limit });
      return { request: verified, header: undefined };
    }
    case "api_key":
    case "basic_http": {
      const { header, value } = await secretOf(owner, route, route.authentication_method);
      const sent = request.headers.get(header);
      if (sent === null || !isEqual(sent.replace(/^basic /i, "Basic "), value)) {
        throw new Unauthorized(
          route.authentication_method === "api_key"
            ? `this route asks for its key in the header ${header}`
            : "this route asks for a user name and a password (RFC 7617)",
        );
      }
      return { request, header };
    }
  }
}

/** Digests have one length, so that nothing tells how much of a guess was right. */
function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(a), "hex"), Buffer.from(sha256(b), "hex"));
}

async function secretOf(
  owner: WorkspaceContext,
  { path: route, authentication_resource_path }: HttpTrigger,
  method: "api_key" | "basic_http",
): Promise<Secret> {
  const path = authentication_resource_path!;
  return opened(route, async () => {
    if (!path.startsWith(VARIABLE)) return toSecret(method, path, await resourceOf(owner, path));
    const at = path.slice(VARIABLE.length);
    await getVariable(owner, at);
    const value = await readValueForServer(owner.app, owner.caller.member.workspace_id, at);
    if (!value) throw new NotFound(`variable ${path}`);
    return method === "api_key"
      ? { header: API_KEY_HEADER, value }
      : { header: "authorization", value: basic(value) };
  });
}

function signatureOf(owner: WorkspaceContext, { path: route, authentication_resource_path }: HttpTrigger) {
  const path = authentication_resource_path!;
  return opened(route, async () => {
    const { rule, secret } = toSignature(path, await resourceOf(owner, path));
    return { rule, key: async () => secret };
  });
}

/** What came after the route was set up may be somebody else's: only what its author may read lets anybody in. */
async function resourceOf(owner: WorkspaceContext, path: string): Promise<unknown> {
  await getResource(owner, path);
  return resourceForServer(owner, path);
}

async function opened<T>(route: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (cause) {
    if (!(cause instanceof SvcError)) throw cause;
    throw new Internal(`the secret of the HTTP route ${route} cannot be read`, { cause });
  }
}

/** A method that browsers use for any link. */
function isReading({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

/** The caller must be a member who may see the route, and run what it runs. */
async function requireRights(ctx: Context, route: HttpTrigger): Promise<void> {
  const { identity } = ctx.caller;
  const { workspace_id, path } = route;
  if (!identity) throw new Unauthorized("this route asks for a valid token");
  if (!route.static_asset_config && isReading(ctx.request) && !bringsToken(ctx.request)) {
    throw new Unauthorized("this route asks for a valid token: a cookie alone starts nothing by GET");
  }
  const bound = identity.token?.workspace_id;
  if (bound !== undefined && bound !== workspace_id) {
    throw new Unauthorized("the token is bound to another workspace");
  }
  const member = await resolveMember(ctx.app, identity, workspace_id);
  if (!member || member.disabled)
    throw new Unauthorized("the token is not that of a member who may call this route");
  if (!canRead(member, path, route.extra_perms))
    throw new Forbidden(`${member.username} may not call this route`);
  if (route.static_asset_config)
    return checkScopes(identity, { domain: "http_triggers", action: "read" }, path);
  const caller: WorkspaceContext = { ...ctx, caller: { identity, member } };
  await resolveTarget(caller, targetAt(route.script_path, route.is_flow));
}
