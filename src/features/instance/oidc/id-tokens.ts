/**
 * Identity tokens of jobs (OpenID Connect). Other services accept them instead of a secret, since they prove which job
 * is calling.
 *
 * The claims are made here. `signing-keys.ts` decides by the age of the keys which one signs and which are published.
 */
import { and, eq } from "drizzle-orm";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import { EVERYONE_GROUP } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { requireLicense } from "../../tenancy/license/service.ts";
import { groupMembers, instanceGroupMembers } from "../../tenancy/people/group-tables.ts";
import { getSigningKey, listPublicKeys, MAX_TOKEN_LIFETIME_MS } from "./signing-keys.ts";

const MAX_AUDIENCE_CHARS = 500;

/** Returns the issuer URL, with the trailing slash used in trust policies. */
export function getIssuerUrl(app: App): string {
  return `${app.urls.base}/api/oidc/`;
}

/**
 * Returns the issuer's metadata (OpenID Connect Discovery 1.0 §3). There is no authorization endpoint, since tokens are
 * issued to jobs only.
 */
export async function createDiscoveryDocument(app: App) {
  const issuer = getIssuerUrl(app);
  const algorithms = (await listPublicKeys(app)).map(({ alg }) => alg);
  return {
    issuer,
    jwks_uri: `${issuer}jwks`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    // Discovery requires RS256 in the list, whatever algorithm signs.
    id_token_signing_alg_values_supported: [...new Set(["RS256", ...algorithms])],
    scopes_supported: ["openid"],
    claims_supported: [
      ...["iss", "sub", "aud", "iat", "nbf", "exp", "jti", "email", "username", "groups", "instance_groups"],
      ...["workspace", "job_id", "root_job_id", "path", "flow_path", "job_kind", "permissioned_as"],
    ],
  };
}

/**
 * Issues a token for the calling job.
 * @param audience the service that the token is meant for
 * @param expires_in lifetime in seconds; the setting `oidc_token_lifetime_secs` is its maximum and default
 * @throws EnterpriseRequired; Forbidden unless a job calls; BadRequest for an invalid audience or lifetime
 */
export async function issueIdToken(
  ctx: WorkspaceContext,
  audience: string,
  expires_in: number | undefined,
): Promise<string> {
  const { app } = ctx;
  await requireLicense(app);
  requireValidAudience(audience);
  const job = await getCallingJob(ctx);
  const claims = await createClaims(app, job);
  const lifetime_s = parseLifetime(app, expires_in);
  const { SignJWT } = await import("jose");
  const { kid, key, algorithm } = await getSigningKey(app);
  const now_s = Math.floor(app.clock().getTime() / 1000);
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, kid, typ: "JWT" })
    .setIssuer(getIssuerUrl(app))
    .setAudience(audience)
    .setIssuedAt(now_s)
    .setNotBefore(now_s)
    .setExpirationTime(now_s + lifetime_s)
    .setJti(Bun.randomUUIDv7())
    .sign(key);
  const parameters = { job: job.id, path: job.script_path ?? "" };
  await ctx.write({ resource: audience, parameters }, async () => {});
  return token;
}

function requireValidAudience(audience: string): void {
  if (audience.trim() !== "" && audience.length <= MAX_AUDIENCE_CHARS && !/\p{Cc}/u.test(audience)) return;
  throw new BadRequest(
    `the audience must be a name of 1 to ${MAX_AUDIENCE_CHARS} characters, such as sts.amazonaws.com`,
  );
}

function parseLifetime(app: App, expires_in: number | undefined): number {
  const limit = Math.min(app.settings.get("oidc_token_lifetime_secs"), MAX_TOKEN_LIFETIME_MS / 1000);
  if (expires_in === undefined) return limit;
  if (expires_in >= 1 && expires_in <= limit) return expires_in;
  throw new BadRequest(`query field \`expires_in\`: must be 1 to ${limit} seconds`);
}

async function getCallingJob(ctx: WorkspaceContext): Promise<Job> {
  const id = ctx.caller.identity.token?.job?.id;
  if (id === undefined) {
    throw new Forbidden("an identity token says which job asks: call this from a script, with WM_TOKEN");
  }
  const { workspace_id } = ctx.caller.member;
  const [job] = await ctx.app.db.read
    .select()
    .from(jobs)
    .where(and(eq(jobs.id, id), eq(jobs.workspace_id, workspace_id)));
  if (!job) throw new NotFound(`job ${id} in workspace ${workspace_id}`);
  return job;
}

/**
 * Returns the claims of a job. They contain nothing that the job's caller can choose freely, such as the path of
 * a preview or the label of a token. Claims that do not apply are empty texts, so that policies can require that.
 */
async function createClaims(app: App, job: Job) {
  const { email, workspace_id: workspace, permissioned_as } = job;
  const path = findDeployedPath(job);
  const flow_path = await findRootFlowPath(app, job);
  return {
    // Identity, code, flow and workspace, separated by `::`.
    sub: `${email}::${path}::${flow_path}::${workspace}`,
    email,
    username: permissioned_as.replace(/^u\//, ""),
    ...(await listGroupClaims(app, job)),
    workspace,
    job_id: job.id,
    // Only flow steps have a trustworthy root job; the caller can choose that of other jobs.
    root_job_id: job.flow_step_id === null ? job.id : (job.root_job ?? job.id),
    path,
    flow_path,
    job_kind: job.kind,
    permissioned_as,
  };
}

const DEPLOYED_KINDS: readonly Job["kind"][] = ["script", "flow", "flowscript"];

/** Returns the path of deployed code. Empty for other code, which the caller supplied under any path. */
function findDeployedPath(job: Pick<Job, "kind" | "script_path" | "raw_code" | "raw_flow">): string {
  const isOwnCode = job.raw_code !== null || job.raw_flow !== null;
  return DEPLOYED_KINDS.includes(job.kind) && !isOwnCode ? (job.script_path ?? "") : "";
}

/**
 * Returns the job's groups in the workspace, which its authors manage, and on the instance, which super admins manage.
 */
async function listGroupClaims(app: App, { email, workspace_id }: Job) {
  const names = (rows: { name: string }[]) => rows.map(({ name }) => name).sort();
  const own = await app.db.read
    .select({ name: groupMembers.name })
    .from(groupMembers)
    .where(and(eq(groupMembers.workspace_id, workspace_id), eq(groupMembers.email, email)));
  const ofInstance = await app.db.read
    .select({ name: instanceGroupMembers.name })
    .from(instanceGroupMembers)
    .where(eq(instanceGroupMembers.email, email));
  return { groups: [EVERYONE_GROUP, ...names(own)], instance_groups: names(ofInstance) };
}

/** Returns the path of the root flow of a step; otherwise empty. */
async function findRootFlowPath(app: App, job: Job): Promise<string> {
  if (job.flow_step_id === null || job.root_job === null) return "";
  const [root] = await app.db.read
    .select({
      kind: jobs.kind,
      script_path: jobs.script_path,
      raw_code: jobs.raw_code,
      raw_flow: jobs.raw_flow,
    })
    .from(jobs)
    .where(eq(jobs.id, job.root_job));
  return root ? findDeployedPath(root) : "";
}
