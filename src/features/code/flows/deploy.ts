/** Deploys flows: creates them, and stores new versions. */
import type { Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { createUuid } from "../../../lib/text/ids.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import { requireManageAccess, requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { insertJob } from "../../../platform/queue/job-store.ts";
import { mergeUnknownFields } from "../../tenancy/rights/unknown-fields.ts";
import { requireScope } from "../../tenancy/tokens/scopes.ts";
import { requireOpenWorkspace } from "../../tenancy/workspaces/gate.ts";
import { deleteDraftRow, moveDraftRows } from "../drafts/service.ts";
import { moveStars } from "../favorites/service.ts";
import { requireOnBehalfOfRight } from "../scripts/deploy.ts";
import { storeImports } from "../scripts/imports/importers.ts";
import { type LockedFlow, lockTrivialScripts } from "./locks.ts";
import type { NewFlow } from "./records.ts";
import { requireReadableFlow } from "./service.ts";
import { type Flow, type FlowVersion, flows, flowVersions } from "./tables.ts";
import { validateFlow } from "./value/validate.ts";
import { findLatestFlow, invalidateFlow, whereFlow, whereVersions } from "./versions.ts";

/**
 * Creates a flow. It can run at once if no inline script has dependencies. Otherwise a lock job is queued in the same
 * transaction, and the flow cannot run until it completes; nor can one with a syntax error in a script. An archived flow
 * at the path and the deployer's draft are replaced.
 * @returns the path
 * @throws BadRequest for an invalid or used path and for an invalid flow (naming the step), Forbidden
 */
export async function createFlow(ctx: WorkspaceContext, body: NewFlow): Promise<string> {
  const { workspace_id } = ctx.caller.member;
  const path = parsePath(body.path);
  requireOnBehalfOfRight(ctx, body.on_behalf_of_email);
  const locked = await validateAndLock(workspace_id, body);
  return ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`flow ${workspace_id} ${path}`);
    const previous = await findFlow(tx, workspace_id, path);
    requireWriteAccess(ctx.caller.member, path, previous?.extra_perms);
    if (previous && !previous.archived && !previous.draft_only) {
      throw new BadRequest(`there is a flow at ${path} already: update it to deploy a new version`);
    }
    await storeFlow(ctx, tx, { ...body, path }, locked, previous);
    return path;
  });
}

/**
 * Deploys a new version, and renames the flow if the body has another path. Until its scripts are locked, the path runs
 * the previous version. An archived flow is restored.
 * @returns the path
 * @throws NotFound, Forbidden, BadRequest as `createFlow`, and for a stale `parent_version`
 */
export async function updateFlow(ctx: WorkspaceContext, old: string, body: NewFlow): Promise<string> {
  const { workspace_id } = ctx.caller.member;
  const path = parsePath(body.path);
  if (path !== old) requireScope(ctx.caller.identity, { domain: "flows", action: "write" }, path);
  requireOnBehalfOfRight(ctx, body.on_behalf_of_email);
  const locked = await validateAndLock(workspace_id, body);
  return ctx.write({ resource: path, parameters: path === old ? {} : { old_path: old } }, async (tx) => {
    // Always in the same order, to avoid deadlocks between two renames.
    for (const each of [...new Set([old, path])].sort()) await tx.lock(`flow ${workspace_id} ${each}`);
    const { flow } = requireReadableFlow(ctx, await findLatestFlow(tx, workspace_id, old), `flow ${old}`);
    requireWriteAccess(ctx.caller.member, old, flow.extra_perms);
    requireNewest(body.parent_version ?? undefined, flow);
    if (path !== old) await renameFlow(ctx, tx, old, path);
    await storeFlow(ctx, tx, { ...body, path }, locked, { ...flow, path });
    return path;
  });
}

/**
 * Checks that a change is based on the newest version.
 * @throws BadRequest if the change is based on a version that is no longer the newest
 */
function requireNewest(parent: number | undefined, { path, version }: Flow): void {
  if (parent === undefined || parent === version) return;
  throw new BadRequest(
    `parent_version ${parent} is not the latest version of ${path}, which is ${version}: another version was deployed meanwhile`,
  );
}

/** Validates and locks a flow. A draft may be unfinished, so it is checked when it is deployed. */
async function validateAndLock(workspace_id: string, body: NewFlow): Promise<LockedFlow> {
  if (body.draft_only) return { value: body.value, complete: false };
  validateFlow(body.value);
  try {
    return await lockTrivialScripts(workspace_id, body.value);
  } catch (cause) {
    // The lock job finds the same, and stores it with the version.
    if (cause instanceof BadRequest) return { value: body.value, complete: false };
    throw cause;
  }
}

/** Updates versions before the flow, in the same order as `completeFlowLocks`, to avoid deadlocks. */
async function renameFlow(ctx: WorkspaceContext, tx: Tx, old: string, path: string): Promise<void> {
  const { member } = ctx.caller;
  const { workspace_id } = member;
  requireManageAccess(member, old, "rename");
  const other = await findFlow(tx, workspace_id, path);
  requireWriteAccess(member, path, other?.extra_perms);
  if (other) throw new BadRequest(`there is a flow at ${path} already`);
  await tx.update(flowVersions).set({ path }).where(whereVersions(workspace_id, old));
  await tx.update(flows).set({ path }).where(whereFlow(workspace_id, old));
  await moveStars(tx, workspace_id, { kind: "flow", path: old }, path);
  await moveDraftRows(tx, { workspace_id, kind: "flow", path: old }, path);
  tx.afterCommit(() => invalidateFlow(ctx.app, workspace_id, old));
}

async function storeFlow(
  ctx: WorkspaceContext,
  tx: Tx,
  body: NewFlow,
  { value, complete }: LockedFlow,
  previous: Flow | undefined,
): Promise<void> {
  const { app } = ctx;
  const { workspace_id } = ctx.caller.member;
  const { path } = body;
  const draft_only = body.draft_only ?? false;
  if (draft_only && previous && !previous.draft_only) {
    throw new BadRequest(
      previous.archived
        ? `there is an archived flow at ${path}: restore it (flows/archive with \`archived: false\`), or deploy a flow in its place`
        : `flow ${path} is deployed, not a draft only: keep the draft beside it (drafts/create)`,
    );
  }
  // Drafts are not part of the flow's history.
  if (previous?.draft_only) await tx.delete(flowVersions).where(whereVersions(workspace_id, path));
  const lock_job = complete || draft_only ? null : createUuid();
  const version = await insertVersion(ctx, tx, body, { value, ready: complete, lock_job });
  const before = previous?.archived ? null : (previous?.ready_version ?? null);
  const row = {
    workspace_id,
    path,
    version,
    ready_version: complete ? version : before,
    summary: body.summary,
    description: body.description,
    tag: body.tag || null,
    priority: body.priority ?? null,
    timeout: body.timeout ?? null,
    ws_error_handler_muted: body.ws_error_handler_muted ?? false,
    dedicated_worker: body.dedicated_worker ?? false,
    visible_to_runner_only: body.visible_to_runner_only ?? false,
    on_behalf_of_email: body.on_behalf_of_email ?? null,
    extra: mergeUnknownFields(null, body.extra),
    draft_only,
    archived: false,
    edited_by: ctx.username,
    edited_at: app.clock(),
    extra_perms: previous?.extra_perms ?? {},
  };
  await tx
    .insert(flows)
    .values(row)
    .onConflictDoUpdate({ target: [flows.workspace_id, flows.path], set: row });
  if (lock_job) await queueLockJob(ctx, tx, { id: lock_job, path, version });
  else await storeImports(tx, { workspace_id, kind: "flow", path }, []);
  if (!draft_only) await deleteDraftRow(tx, { workspace_id, kind: "flow", path, created_by: ctx.username });
  tx.afterCommit(() => {
    invalidateFlow(app, workspace_id, path);
    if (lock_job) app.queue.wake();
  });
}

async function insertVersion(
  ctx: WorkspaceContext,
  tx: Tx,
  body: NewFlow,
  state: Pick<FlowVersion, "value" | "ready" | "lock_job">,
): Promise<number> {
  const [row] = await tx
    .insert(flowVersions)
    .values({
      ...state,
      workspace_id: ctx.caller.member.workspace_id,
      path: body.path,
      schema: body.schema ?? null,
      created_by: ctx.username,
      created_at: ctx.app.clock(),
      deployment_msg: body.deployment_message ?? null,
      lock_error_logs: null,
    })
    .returning({ id: flowVersions.id });
  return row!.id;
}

async function queueLockJob(
  ctx: WorkspaceContext,
  tx: Tx,
  { id, path, version }: { id: string; path: string; version: number },
): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  await requireOpenWorkspace(ctx.app, tx, workspace_id);
  const now = ctx.app.clock();
  await insertJob(tx, {
    id,
    workspace_id,
    kind: "flowdependencies",
    state: "queued",
    created_by: ctx.username,
    permissioned_as: `u/${ctx.username}`,
    email: ctx.caller.identity.email,
    created_at: now,
    scheduled_for: now,
    script_path: path,
    flow_version: version,
    tag: "dependency",
    args: "{}",
    trigger_kind: "deploy",
    request_id: ctx.request_id ?? null,
  });
}

async function findFlow(tx: Tx, workspace_id: string, path: string): Promise<Flow | undefined> {
  const [row] = await tx.select().from(flows).where(whereFlow(workspace_id, path));
  return row;
}
