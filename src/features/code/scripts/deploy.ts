/** Deploying scripts. */
import type { Tx } from "../../../database/database.ts";
import { analyseScript, usableLock } from "../../../engines/languages/reading/analyse.ts";
import type { ParameterBinding } from "../../../engines/languages/types.ts";
import { type Parameter, type ScriptAnalysis, toArgumentsSchema } from "../../../engines/languages/types.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import { newJobId, sha256 } from "../../../lib/text/ids.ts";
import { checkPath } from "../../../lib/text/paths.ts";
import { requireWrite } from "../../../platform/access/permissions.ts";
import type { App, Audit, WorkspaceContext } from "../../../platform/app/context.ts";
import { insertJob } from "../../../platform/queue/job-store.ts";
import { getVariable } from "../../assets/variables/service.ts";
import { mergeKept } from "../../tenancy/rights/unknown-fields.ts";
import { refuseClosed } from "../../tenancy/workspaces/gate.ts";
import { forgetDraft } from "../drafts/service.ts";
import { type Deployer, storeImports } from "./imports/importers.ts";
import { isOnlyRelocked, noteDeployed } from "./imports/locking.ts";
import type { NewScript } from "./records.ts";
import { removeVersion } from "./service.ts";
import { type Script, scripts } from "./tables.ts";
import { findLatest, findLive, findVersion, forgetScript } from "./versions.ts";

const UPDATES = { operation: "scripts.update", action_kind: "Update" } as const satisfies Audit;

/**
 * Stores a new version. It is ready at once when nothing has to be resolved; otherwise a dependency job is queued in
 * the same transaction and `p/` stays on the version before until that job is done.
 * @returns the version's hash
 * @throws BadRequest for a bad path, a syntax error (line and column), a missing or stale parent_hash, a signature rule
 * whose secret the deployer may not read
 */
export async function createScript(ctx: WorkspaceContext, body: NewScript): Promise<string> {
  const { app } = ctx;
  const workspace_id = ctx.caller.member.workspace_id;
  const path = checkPath(body.path);
  checkOnBehalfOf(ctx, body.on_behalf_of_email);
  const analysis = await analysisOf(body);
  const lock = await usableLock(body.language, body.lock);
  if (body.signature) await checkSecret(ctx, body.signature.secret);
  return app.db.write(async (tx) => {
    await tx.lock(`script ${workspace_id} ${path}`);
    const newest = await findLatest(tx, workspace_id, path);
    const live = await findLive(tx, workspace_id, path);
    await checkParent(ctx, tx, { previous: newest, live }, body, path);
    if (live?.draft_only) await removeVersion(tx, live);
    const previous = live?.draft_only ? await findLatest(tx, workspace_id, path) : newest;
    const row = toRow(app, ctx, { ...body, path, lock }, analysis, previous);
    if (live) row.extra_perms = live.extra_perms;
    const same = await findVersion(tx, workspace_id, row.hash);
    if (same && !same.deleted) {
      throw new BadRequest(`the same script exists already at ${path}, with hash ${row.hash}`);
    }
    if (same) await removeVersion(tx, same);
    await tx.insert(scripts).values(row);
    if (row.ready) await noteDeployed(app, tx, row, deployerOf(ctx));
    else if (!row.draft_only) await queueDependencyJob(app, tx, ctx, row);
    if (row.ready) await storeImports(tx, { workspace_id, kind: "script", path }, []);
    if (!row.draft_only) await forgetDraft(tx, { workspace_id, kind: "script", path });
    const details = { resource: path, parameters: { hash: row.hash } };
    await ctx.audit(tx, previous ? { ...details, as: UPDATES } : details);
    tx.afterCommit(() => {
      forgetScript(app, workspace_id, path, row.hash);
      if (!row.ready) app.queue.wake();
    });
    return row.hash;
  });
}

const NOT_READ: ScriptAnalysis = {
  signature: { parameters: [], has_main: true, preprocessor: undefined },
  schema: toArgumentsSchema([]),
  packages: undefined,
  imports: [],
};

/** What is only a draft may be half written; of what is bundled nothing has to be found any more. @throws BadRequest for anything else that cannot be read */
async function analysisOf({ language, content, bundle, draft_only }: NewScript): Promise<ScriptAnalysis> {
  try {
    const analysis = await analyseScript(language, content);
    return bundle === undefined ? analysis : { ...analysis, packages: undefined, imports: [] };
  } catch (cause) {
    if (draft_only && cause instanceof BadRequest) return NOT_READ;
    throw cause;
  }
}

/** Whoever calls the script acts as that person: nobody but an admin says so for somebody else. */
export function checkOnBehalfOf(ctx: WorkspaceContext, email: string | undefined): void {
  const { member } = ctx.caller;
  if (email === undefined || email === member.email || member.is_admin) return;
  throw new Forbidden(`only an admin deploys on behalf of somebody else: on_behalf_of_email is ${email}`);
}

/** A rule may rest only on a secret its author may read: what it verifies would tell the others of it. */
async function checkSecret(ctx: WorkspaceContext, path: string): Promise<void> {
  try {
    await getVariable(ctx, path);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    throw new BadRequest(
      `body field \`signature.secret\`: there is no variable ${path} that ${ctx.username} may read`,
    );
  }
}

type NewRow = typeof scripts.$inferInsert & { hash: string };

async function checkParent(
  ctx: WorkspaceContext,
  tx: Tx,
  { previous, live }: { previous: Script | undefined; live: Script | undefined },
  body: NewScript,
  path: string,
): Promise<void> {
  requireWrite(ctx.caller.member, path, previous?.extra_perms);
  if (!live || live.draft_only) return;
  if (body.draft_only) {
    throw new BadRequest(`body field \`draft_only\`: the script at ${path} is deployed already`, {
      hint: "POST drafts/create keeps a draft beside it",
    });
  }
  if (body.parent_hash === undefined) {
    throw new BadRequest(
      `there is a script at ${path} already: send its hash ${live.hash} as parent_hash to deploy a new version`,
    );
  }
  if (body.parent_hash !== live.hash && !(await isOnlyRelocked(tx, live, body.parent_hash))) {
    throw new BadRequest(
      `parent_hash ${body.parent_hash} is not the latest version of ${path}, which is ${live.hash}: somebody deployed in between`,
    );
  }
}

function toRow(
  app: App,
  ctx: WorkspaceContext,
  body: NewScript,
  analysis: ScriptAnalysis,
  previous: Script | undefined,
): NewRow {
  const { signature } = analysis;
  const parents = previous ? [previous.hash, ...previous.parent_hashes] : [];
  const lock = body.lock || (analysis.packages || analysis.imports.length > 0 ? null : "");
  const row: Omit<NewRow, "hash"> = {
    workspace_id: ctx.caller.member.workspace_id,
    path: body.path,
    parent_hashes: parents,
    summary: body.summary,
    description: body.description,
    content: body.content,
    schema: body.schema ?? analysis.schema,
    parameters: toBindings(signature.parameters),
    language: body.language,
    kind: body.kind ?? "script",
    is_template: body.is_template ?? false,
    lock,
    lock_error_logs: null,
    ready: !body.draft_only && lock !== null && analysis.imports.length === 0,
    imports: null,
    tag: body.tag || null,
    envs: body.envs ?? [],
    concurrent_limit: body.concurrent_limit ?? null,
    concurrency_time_window_s: body.concurrency_time_window_s ?? null,
    concurrency_key: body.concurrency_key ?? null,
    cache_ttl: body.cache_ttl ?? null,
    timeout: body.timeout ?? null,
    priority: body.priority ?? null,
    delete_after_use: body.delete_after_use ?? false,
    dedicated_worker: body.dedicated_worker ?? false,
    restart_unless_cancelled: body.restart_unless_cancelled ?? false,
    visible_to_runner_only: body.visible_to_runner_only ?? false,
    ws_error_handler_muted: body.ws_error_handler_muted ?? false,
    isolation: body.isolation ?? "shared",
    memory_mb: body.memory_mb ?? null,
    no_main_func: body.no_main_func ?? !signature.has_main,
    has_preprocessor: signature.preprocessor !== undefined,
    preprocessor_parameters: signature.preprocessor ? toBindings(signature.preprocessor) : null,
    signature: body.signature ?? null,
    on_behalf_of_email: body.on_behalf_of_email ?? null,
    codebase: body.codebase ?? null,
    bundle: body.bundle ?? null,
    extra: mergeKept(null, body.extra),
    deployment_message: body.deployment_message ?? null,
    created_by: ctx.username,
    created_at: app.clock(),
    archived: false,
    deleted: false,
    draft_only: body.draft_only ?? false,
    extra_perms: previous?.extra_perms ?? {},
  };
  const { created_at: _, created_by: __, extra_perms: ___, draft_only, ...content } = row;
  const told = draft_only ? { ...content, draft_only } : content;
  return { ...row, hash: sha256(JSON.stringify(told)).slice(0, 16) };
}

function toBindings(parameters: Parameter[]): ParameterBinding[] {
  return parameters.map(({ schema: _schema, optional: _optional, ...binding }) => binding);
}

async function queueDependencyJob(app: App, tx: Tx, ctx: WorkspaceContext, row: NewRow): Promise<void> {
  await refuseClosed(app, tx, row.workspace_id);
  const now = app.clock();
  await insertJob(tx, {
    id: newJobId(),
    workspace_id: row.workspace_id,
    kind: "dependencies",
    state: "queued",
    created_by: ctx.username,
    permissioned_as: `u/${ctx.username}`,
    email: ctx.caller.identity.email,
    created_at: now,
    scheduled_for: now,
    script_path: row.path,
    script_hash: row.hash,
    language: row.language,
    tag: "dependency",
    args: "{}",
    trigger_kind: "deploy",
    request_id: ctx.request_id ?? null,
  });
}

function deployerOf(ctx: WorkspaceContext): Deployer {
  const { username } = ctx;
  return { created_by: username, permissioned_as: `u/${username}`, email: ctx.caller.identity.email };
}
