/** Deploys scripts as new versions. */
import type { Tx } from "../../../database/database.ts";
import { analyseScript, findUsableLock } from "../../../engines/languages/reading/analyse.ts";
import type { ParameterBinding } from "../../../engines/languages/types.ts";
import { type Parameter, type ScriptAnalysis, toArgumentsSchema } from "../../../engines/languages/types.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import { createUuid, sha256 } from "../../../lib/text/ids.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import { requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { App, AuditedAction, WorkspaceContext } from "../../../platform/app/context.ts";
import { insertJob } from "../../../platform/queue/job-store.ts";
import { getVariable } from "../../assets/variables/service.ts";
import { mergeUnknownFields } from "../../tenancy/rights/unknown-fields.ts";
import { requireOpenWorkspace } from "../../tenancy/workspaces/gate.ts";
import { deleteDraftRow } from "../drafts/service.ts";
import { type Deployer, storeImports } from "./imports/importers.ts";
import { announceVersionReady, isOnlyRelocked } from "./imports/locking.ts";
import type { NewScript } from "./records.ts";
import { deleteVersionRow } from "./service.ts";
import { type Script, scripts } from "./tables.ts";
import { findLatestScript, findLiveScript, findScriptVersion, invalidateScript } from "./versions.ts";

const UPDATE_AUDIT = { operation: "scripts.update", action_kind: "Update" } as const satisfies AuditedAction;

/**
 * Deploys a new version. It can run at once if it has no dependencies. Otherwise a dependency job is queued in the same
 * transaction, and `p/` runs the previous version until it completes. It fails for code that cannot be parsed.
 * @returns the version's hash
 * @throws BadRequest for an invalid path, a missing or stale parent_hash, a signature rule whose secret the deployer may
 * not read
 */
export async function createScript(ctx: WorkspaceContext, body: NewScript): Promise<string> {
  const { app } = ctx;
  const workspace_id = ctx.caller.member.workspace_id;
  const path = parsePath(body.path);
  requireOnBehalfOfRight(ctx, body.on_behalf_of_email);
  const read = await analyseNewScript(workspace_id, body);
  const lock = await findUsableLock(body.language, body.lock);
  if (body.signature) await requireReadableSecret(ctx, body.signature.secret);
  return app.db.write(async (tx) => {
    await tx.lock(`script ${workspace_id} ${path}`);
    const newest = await findLatestScript(tx, workspace_id, path);
    const live = await findLiveScript(tx, workspace_id, path);
    await requireValidParent(ctx, tx, { previous: newest, live }, body, path);
    if (live?.draft_only) await deleteVersionRow(tx, live);
    const previous = live?.draft_only ? await findLatestScript(tx, workspace_id, path) : newest;
    // A lock that cannot be used is resolved again, but returned unchanged in the archive.
    const extra = lock === undefined && body.lock ? { ...body.extra, lock: body.lock } : body.extra;
    const row = createScriptRow(app, ctx, { ...body, path, lock, extra }, read, previous);
    if (live) row.extra_perms = live.extra_perms;
    const same = await findScriptVersion(tx, workspace_id, row.hash);
    if (same && !same.deleted) {
      throw new BadRequest(`the same script exists already at ${path}, with hash ${row.hash}`);
    }
    if (same) await deleteVersionRow(tx, same);
    await tx.insert(scripts).values(row);
    if (row.ready) await announceVersionReady(app, tx, row, toDeployer(ctx));
    else if (!row.draft_only) await queueDependencyJob(app, tx, ctx, row);
    if (row.ready) await storeImports(tx, { workspace_id, kind: "script", path }, []);
    if (!row.draft_only)
      await deleteDraftRow(tx, { workspace_id, kind: "script", path, created_by: ctx.username });
    const details = { resource: path, parameters: { hash: row.hash } };
    await ctx.audit(tx, previous ? { ...details, action: UPDATE_AUDIT } : details);
    // A ready version was announced above, which invalidates the cache and then looks the version up.
    if (!row.ready) {
      tx.afterCommit(() => {
        invalidateScript(app, workspace_id, path, row.hash);
        app.queue.wake();
      });
    }
    return row.hash;
  });
}

const EMPTY_ANALYSIS: ScriptAnalysis = {
  signature: { parameters: [], has_main: true, preprocessor: undefined },
  schema: toArgumentsSchema([]),
  packages: undefined,
  imports: [],
};

/** Analyses the code; bundles need no packages. @returns undefined if it cannot be parsed */
async function analyseNewScript(
  workspace_id: string,
  { language, content, bundle }: NewScript,
): Promise<ScriptAnalysis | undefined> {
  try {
    const analysis = await analyseScript(language, content, { owner: workspace_id, for_request: true });
    return bundle === undefined ? analysis : { ...analysis, packages: undefined, imports: [] };
  } catch (cause) {
    if (cause instanceof BadRequest) return undefined;
    throw cause;
  }
}

/**
 * Checks that the caller may let a script run on behalf of another user. Only admins may, since every caller then has
 * that user's rights.
 */
export function requireOnBehalfOfRight(ctx: WorkspaceContext, email: string | undefined): void {
  const { member } = ctx.caller;
  if (email === undefined || email === member.email || member.is_admin) return;
  throw new Forbidden(`only an admin can deploy on behalf of another user: on_behalf_of_email is ${email}`);
}

/** Checks that the author may read the rule's secret, since verification results reveal information about it. */
async function requireReadableSecret(ctx: WorkspaceContext, path: string): Promise<void> {
  try {
    await getVariable(ctx, path);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    throw new BadRequest(
      `body field \`signature.secret\`: there is no variable ${path} that ${ctx.username} may read`,
    );
  }
}

type NewScriptRow = typeof scripts.$inferInsert & { hash: string };

async function requireValidParent(
  ctx: WorkspaceContext,
  tx: Tx,
  { previous, live }: { previous: Script | undefined; live: Script | undefined },
  body: NewScript,
  path: string,
): Promise<void> {
  requireWriteAccess(ctx.caller.member, path, previous?.extra_perms);
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
      `parent_hash ${body.parent_hash} is not the latest version of ${path}, which is ${live.hash}: another version was deployed meanwhile`,
    );
  }
}

function createScriptRow(
  app: App,
  ctx: WorkspaceContext,
  body: NewScript,
  read: ScriptAnalysis | undefined,
  previous: Script | undefined,
): NewScriptRow {
  const analysis = read ?? EMPTY_ANALYSIS;
  const { signature } = analysis;
  const parents = previous ? [previous.hash, ...previous.parent_hashes] : [];
  const lock = body.lock || (!read || analysis.packages || analysis.imports.length > 0 ? null : "");
  const row: Omit<NewScriptRow, "hash"> = {
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
    ready: !body.draft_only && read !== undefined && lock !== null && analysis.imports.length === 0,
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
    validate: body.validate ?? false,
    no_main_func: body.no_main_func ?? !signature.has_main,
    has_preprocessor: signature.preprocessor !== undefined,
    preprocessor_parameters: signature.preprocessor ? toBindings(signature.preprocessor) : null,
    signature: body.signature ?? null,
    on_behalf_of_email: body.on_behalf_of_email ?? null,
    codebase: body.codebase ?? null,
    bundle: body.bundle ?? null,
    extra: mergeUnknownFields(null, body.extra),
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

async function queueDependencyJob(app: App, tx: Tx, ctx: WorkspaceContext, row: NewScriptRow): Promise<void> {
  await requireOpenWorkspace(app, tx, row.workspace_id);
  const now = app.clock();
  await insertJob(tx, {
    id: createUuid(),
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

function toDeployer(ctx: WorkspaceContext): Deployer {
  const { username } = ctx;
  return { created_by: username, permissioned_as: `u/${username}`, email: ctx.caller.identity.email };
}
