/** Authentication of callers of HTTP routes. */
import { BadRequest, Forbidden, Internal, NotFound, SvcError, Unauthorized } from "../../../../lib/errors.ts";
import { optionalField, withDefault } from "../../../../lib/zod/fields.ts";
import * as z from "../../../../lib/zod/z.ts";
import { canRead } from "../../../../platform/access/permissions.ts";
import type { Context, WorkspaceContext } from "../../../../platform/app/context.ts";
import { hasExplicitToken } from "../../../../platform/http/guards/credentials.ts";
import { readResourceForCaller, readResourceForServer } from "../../../assets/resources/resolved-values.ts";
import { getResource, hasResource } from "../../../assets/resources/service.ts";
import { readVariableForServer } from "../../../assets/variables/server-value.ts";
import { getVariable, hasVariable } from "../../../assets/variables/service.ts";
import { isReadableSecret } from "../../../assets/variables/value.ts";
import {
  type SignatureFormat,
  verifySignature,
  verifySignatureWithKey,
} from "../../../runs/submit/signatures.ts";
import { resolveTarget, toTarget } from "../../../runs/submit/target.ts";
import { resolveMember } from "../../../tenancy/people/members.ts";
import { requireScope } from "../../../tenancy/tokens/scopes.ts";
import type { HttpTrigger } from "../tables.ts";
import { isRight } from "./guesses.ts";

type AuthenticationRule = Pick<
  HttpTrigger,
  "authentication_method" | "authentication_resource_path" | "signature" | "http_method"
>;

const VARIABLE_PREFIX = "$var:";
const API_KEY_HEADER = "x-api-key";

/**
 * Validates a route's authentication. The author must be able to read its secret, because the route would reveal what
 * it accepts. A missing secret is allowed: until it exists all callers are rejected.
 * @throws BadRequest naming the field
 */
export async function requireValidSecrets(ctx: WorkspaceContext, rule: AuthenticationRule): Promise<void> {
  const { authentication_method: method, authentication_resource_path: path, signature } = rule;
  if (signature !== null && method !== "signature") {
    throw new BadRequest("`signature` must be given with `authentication_method` signature, and only then");
  }
  if (method === "signature") {
    if (rule.http_method !== "post") throw new BadRequest("`http_method`: signed requests must be `post`");
    if (signature) return requireReadable("signature.secret", () => getVariable(ctx, signature.secret));
    if (path === null) {
      throw new BadRequest("`signature` is missing, or a resource of it in `authentication_resource_path`");
    }
    return readableSecret(ctx, path, (value) => parseSignature(path, value));
  }
  if (method !== "api_key" && method !== "basic_http") {
    if (path === null) return;
    throw new BadRequest("`authentication_resource_path` is only for api_key, basic_http and signature");
  }
  if (path === null)
    throw new BadRequest(`\`authentication_resource_path\` is missing: ${method} needs a secret`);
  await readableSecret(ctx, path, (value) => parseSecret(method, path, value));
}

/** Reads a route's secret. @throws BadRequest if the caller may not read it, or its value is invalid */
async function readableSecret(
  ctx: WorkspaceContext,
  path: string,
  check: (value: unknown) => unknown,
): Promise<void> {
  if (!(await hasSecretResource(ctx, path))) return;
  await requireReadable("authentication_resource_path", async () => {
    if (path.startsWith(VARIABLE_PREFIX)) return getVariable(ctx, path.slice(VARIABLE_PREFIX.length));
    if (!(await hasAllReferences(ctx, path))) return getResource(ctx, path);
    // As with a secret that does not exist yet, calls are rejected until its value is set.
    const isReadable = await isReadableSecret(readResourceForCaller(ctx, path));
    if (!isReadable) return;
    return check(await readResourceForServer(ctx, path));
  });
}

const hasSecretResource = (ctx: WorkspaceContext, path: string) =>
  path.startsWith(VARIABLE_PREFIX)
    ? hasVariable(ctx, path.slice(VARIABLE_PREFIX.length))
    : hasResource(ctx, path);

/** Whether all variables and resources that the resource refers to exist. */
async function hasAllReferences(ctx: WorkspaceContext, path: string): Promise<boolean> {
  const { value } = await getResource(ctx, path);
  for (const field of Object.values(value ?? {})) {
    if (typeof field !== "string" || !field.startsWith(VARIABLE_PREFIX)) continue;
    if (!(await hasVariable(ctx, field.slice(VARIABLE_PREFIX.length)))) return false;
  }
  return true;
}

async function requireReadable(field: string, read: () => Promise<unknown>): Promise<void> {
  try {
    await read();
  } catch (cause) {
    if (cause instanceof NotFound || cause instanceof BadRequest || cause instanceof Forbidden) {
      throw new BadRequest(`\`${field}\`: ${cause.message}`, { cause });
    }
    throw cause;
  }
}

/** Providers with their own signature schemes. */
const PROVIDER_SCHEMES: Record<string, SignatureFormat["scheme"]> = {
  github: "github",
  slack: "slack",
  stripe: "stripe",
};

const SignatureAuth = z.object({
  secret_key: z.string().min(1),
  signature_provider: optionalField(z.string()),
  authentication_config: optionalField(
    z.object({
      signature_header_name: z.string().min(1),
      algorithm: withDefault(z.enum(["sha1", "sha256", "sha512"]), "sha256" as const),
      signature_prefix: optionalField(z.string()),
    }),
  ),
});

/**
 * Parses a resource of type `signature_auth`: scheme and secret of signed requests.
 * @throws BadRequest for an invalid resource or an unknown provider
 */
function parseSignature(path: string, value: unknown): { rule: SignatureFormat; secret: string } {
  const { success, data } = SignatureAuth.safeParse(value);
  if (!success) {
    throw new BadRequest(
      `resource ${path} does not describe how requests are signed: it needs \`secret_key\`, \`signature_provider\`, and for the provider Custom \`authentication_config\``,
    );
  }
  const { secret_key: secret, signature_provider = "Custom", authentication_config: config } = data;
  const scheme = PROVIDER_SCHEMES[signature_provider.toLowerCase()];
  if (scheme) return { rule: { scheme }, secret };
  if (!config || signature_provider.toLowerCase() !== "custom") {
    throw new BadRequest(
      `resource ${path}: signatures of ${signature_provider.slice(0, 40)} are not supported; use Custom, GitHub, Slack or Stripe`,
    );
  }
  const { signature_header_name, algorithm: hash, signature_prefix: prefix } = config;
  const header = parseHeaderName(path, signature_header_name, "signature_header_name");
  return { rule: { scheme: "hmac_sha256", header, hash, prefix }, secret };
}

/** The header and value that a caller must send. */
interface ExpectedHeader {
  header: string;
  value: string;
}

/** Converts a resource to the header that callers must send. @throws BadRequest if the resource is invalid */
function parseSecret(method: "api_key" | "basic_http", path: string, value: unknown): ExpectedHeader {
  const fields = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  const text = (name: string) => {
    const found = fields[name];
    if (typeof found === "string" && found !== "") return found;
    throw new BadRequest(`resource ${path} has no text in \`${name}\`, which ${method} needs`);
  };
  if (method === "basic_http")
    return { header: "authorization", value: formatBasic(`${text("username")}:${text("password")}`) };
  const header = fields.api_key_header === undefined ? API_KEY_HEADER : text("api_key_header");
  return { header: parseHeaderName(path, header), value: text("api_key_secret") };
}

function parseHeaderName(path: string, header: string, field = "api_key_header"): string {
  if (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header)) return header.toLowerCase();
  throw new BadRequest(`resource ${path}: \`${field}\` must be the name of a header (RFC 9110 §5.1)`);
}

/** Formats the Authorization header of Basic authentication (RFC 7617 §2). @param pair `user:password` */
function formatBasic(pair: string): string {
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

export interface AuthenticatedRequest {
  /** The caller's request, or a copy with its body read and verified. */
  request: Request;
  /** The header that authenticated it, which is not passed to the script. */
  header: string | undefined;
}

/**
 * Authenticates the caller of a route.
 * @param owner the user as whom the route runs
 * @throws Unauthorized, Forbidden, NotFound (the caller may not know of the route), TooManyRequests, Internal if the
 * secret cannot be read
 */
export async function authenticateRequest(
  ctx: Context,
  owner: WorkspaceContext,
  route: HttpTrigger,
  limit: number,
): Promise<AuthenticatedRequest> {
  const { request } = ctx;
  switch (route.authentication_method) {
    case "none":
      return { request, header: undefined };
    case "token":
      await requireCallerRights(ctx, route);
      return { request, header: undefined };
    case "signature": {
      const { workspace_id, signature: rule } = route;
      const verified = rule
        ? await verifySignature(ctx.app, request, { workspace_id, rule, limit })
        : await verifySignatureWithKey(ctx.app, request, { ...(await signatureOf(owner, route)), limit });
      return { request: verified, header: undefined };
    }
    case "api_key":
    case "basic_http": {
      const { header, value } = await secretOf(owner, route, route.authentication_method);
      const sent = request.headers.get(header)?.replace(/^basic /i, "Basic ");
      if (sent === undefined || !isRight(ctx.app, route, request, { sent, right: value })) {
        throw new Unauthorized(
          route.authentication_method === "api_key"
            ? `this route requires its key in the header ${header}`
            : "this route requires a user name and a password (RFC 7617)",
        );
      }
      return { request, header };
    }
  }
}

async function secretOf(
  owner: WorkspaceContext,
  { path: route, authentication_resource_path }: HttpTrigger,
  method: "api_key" | "basic_http",
): Promise<ExpectedHeader> {
  const path = authentication_resource_path!;
  return readSecretForRoute(route, async () => {
    if (!path.startsWith(VARIABLE_PREFIX)) return parseSecret(method, path, await findResource(owner, path));
    const at = path.slice(VARIABLE_PREFIX.length);
    await getVariable(owner, at);
    const value = await readVariableForServer(owner.app, owner.caller.member.workspace_id, at);
    if (!value) throw new NotFound(`variable ${path}`);
    return method === "api_key"
      ? { header: API_KEY_HEADER, value }
      : { header: "authorization", value: formatBasic(value) };
  });
}

function signatureOf(owner: WorkspaceContext, { path: route, authentication_resource_path }: HttpTrigger) {
  const path = authentication_resource_path!;
  return readSecretForRoute(route, async () => {
    const { rule, secret } = parseSignature(path, await findResource(owner, path));
    return { rule, key: async () => secret };
  });
}

/** Reads the resource of a route, if the route's author may read it: one created later may belong to another user. */
async function findResource(owner: WorkspaceContext, path: string): Promise<unknown> {
  await getResource(owner, path);
  return readResourceForServer(owner, path);
}

async function readSecretForRoute<T>(route: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (cause) {
    if (!(cause instanceof SvcError)) throw cause;
    throw new Internal(`the secret of the HTTP route ${route} cannot be read`, { cause });
  }
}

/** Whether browsers use the method for links. */
function isSafeMethod({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

/** Requires a member who may read the route and run its target. */
async function requireCallerRights(ctx: Context, route: HttpTrigger): Promise<void> {
  const { identity } = ctx.caller;
  const { workspace_id, path } = route;
  if (!identity) throw new Unauthorized("this route requires a valid token");
  if (!route.static_asset_config && isSafeMethod(ctx.request) && !hasExplicitToken(ctx.request)) {
    throw new Unauthorized(
      "this route requires a valid token: a GET request with only a cookie starts nothing",
    );
  }
  const bound = identity.token?.workspace_id;
  if (bound !== undefined && bound !== workspace_id) {
    throw new Unauthorized("the token is bound to another workspace");
  }
  const member = await resolveMember(ctx.app, identity, workspace_id);
  if (!member || member.disabled)
    throw new Unauthorized("the token does not belong to a member who may call this route");
  if (!canRead(member, path, route.extra_perms))
    throw new Forbidden(`${member.username} may not call this route`);
  if (route.static_asset_config)
    return requireScope(identity, { domain: "http_triggers", action: "read" }, path);
  const caller: WorkspaceContext = { ...ctx, caller: { identity, member } };
  await resolveTarget(caller, toTarget(route.script_path, route.is_flow));
}
