/** Identity tokens of jobs: what other services trust instead of a secret, since it says which job asks. */
import { and, eq } from "drizzle-orm";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import { EVERYBODY } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { requireLicense } from "../../tenancy/license/service.ts";
import { groupMembers, instanceGroupMembers } from "../../tenancy/people/group-tables.ts";
import { LONGEST_MS, publicKeys, signingKey } from "./keys.ts";

const MAX_AUDIENCE = 500;

/** Who signs, with the slash at its end that trust policies are written with. */
export function issuerOf(app: App): string {
  return `${app.urls.base}/api/oidc/`;
}

/**
 * Metadata of the issuer (OpenID Connect Discovery 1.0 §3). Nobody logs in here: the tokens are given to jobs, so there
 * is no authorization endpoint.
 */
export async function discoveryDocument(app: App) {
  const issuer = issuerOf(app);
  const algorithms = (await publicKeys(app)).map(({ alg }) => alg);
  return {
    issuer,
    jwks_uri: `${issuer}jwks`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    // Every issuer has to know RS256, whatever it signs with.
    id_token_signing_alg_values_supported: [...new Set(["RS256", ...algorithms])],
    scopes_supported: ["openid"],
    claims_supported: [
      ...["iss", "sub", "aud", "iat", "nbf", "exp", "jti", "email", "username", "groups", "instance_groups"],
      ...["workspace", "job_id", "root_job_id", "path", "flow_path", "job_kind", "permissioned_as"],
    ],
  };
}

/**
 * Signs a token for the job that asks.
 * @param audience whom it is for; nobody else should take it
 * @param expires_in seconds it holds; at most, and when left out, what the setting `oidc_token_lifetime_secs` says
 * @throws EnterpriseRequired; Forbidden when no job asks; BadRequest for what cannot be an audience or a lifetime
 */
export async function issueIdToken(
  ctx: WorkspaceContext,
  audience: string,
  expires_in: number | undefined,
): Promise<string> {
  const { app } = ctx;
  await requireLicense(app);
  checkAudience(audience);
  const job = await askingJob(ctx);
  const claims = await claimsOf(app, job);
  const lifetime_s = lifetimeOf(app, expires_in);
  const { SignJWT } = await import("jose");
  const { kid, key, algorithm } = await signingKey(app);
  const now_s = Math.floor(app.clock().getTime() / 1000);
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, kid, typ: "JWT" })
    .setIssuer(issuerOf(app))
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

function checkAudience(audience: string): void {
  if (audience.trim() !== "" && audience.length <= MAX_AUDIENCE && !/\p{Cc}/u.test(audience)) return;
  throw new BadRequest(
    `the audience must be a name of 1 to ${MAX_AUDIENCE} characters, such as sts.amazonaws.com`,
  );
}

function lifetimeOf(app: App, expires_in: number | undefined): number {
  const most = Math.min(app.settings.get("oidc_token_lifetime_secs"), LONGEST_MS / 1000);
  if (expires_in === undefined) return most;
  if (expires_in >= 1 && expires_in <= most) return expires_in;
  throw new BadRequest(`query field \`expires_in\`: must be 1 to ${most} seconds`);
}

async function askingJob(ctx: WorkspaceContext): Promise<Job> {
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
 * What a relying party may decide by: nothing that whoever started the job could say as they like, such as the path of a
 * preview or the label of a token. What does not apply is an empty text, so that a policy can ask for it.
 */
async function claimsOf(app: App, job: Job) {
  const { email, workspace_id: workspace, permissioned_as } = job;
  const path = deployedPath(job);
  const flow_path = await flowPathOf(app, job);
  return {
    // Every part of it: whose rights, which code, as a step of which flow, where.
    sub: `${email}::${path}::${flow_path}::${workspace}`,
    email,
    username: permissioned_as.replace(/^u\//, ""),
    ...(await groupsOf(app, job)),
    workspace,
    job_id: job.id,
    // Whoever starts a job may say whose child it is; of a step the server says it.
    root_job_id: job.flow_step_id === null ? job.id : (job.root_job ?? job.id),
    path,
    flow_path,
    job_kind: job.kind,
    permissioned_as,
  };
}

const DEPLOYED: readonly Job["kind"][] = ["script", "flow", "flowscript"];

/** The path of deployed code; the code of anything else is whoever's who started it, whatever path they name. */
function deployedPath(job: Pick<Job, "kind" | "script_path" | "raw_code" | "raw_flow">): string {
  const isOwnCode = job.raw_code !== null || job.raw_flow !== null;
  return DEPLOYED.includes(job.kind) && !isOwnCode ? (job.script_path ?? "") : "";
}

/** Groups of the workspace, which its authors make, and those of the instance, which super admins do. */
async function groupsOf(app: App, { email, workspace_id }: Job) {
  const names = (rows: { name: string }[]) => rows.map(({ name }) => name).sort();
  const own = await app.db.read
    .select({ name: groupMembers.name })
    .from(groupMembers)
    .where(and(eq(groupMembers.workspace_id, workspace_id), eq(groupMembers.email, email)));
  const ofInstance = await app.db.read
    .select({ name: instanceGroupMembers.name })
    .from(instanceGroupMembers)
    .where(eq(instanceGroupMembers.email, email));
  return { groups: [EVERYBODY, ...names(own)], instance_groups: names(ofInstance) };
}

/** Of a step, the path of the flow that was started. */
async function flowPathOf(app: App, job: Job): Promise<string> {
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
  return root ? deployedPath(root) : "";
}
