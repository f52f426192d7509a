/** Deploying flows. */
import type { Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { newJobId } from "../../../lib/text/ids.ts";
import { checkPath } from "../../../lib/text/paths.ts";
import { requireManage, requireWrite } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { insertJob } from "../../../platform/queue/job-store.ts";
import { checkScopes } from "../../tenancy/tokens/scopes.ts";
import { refuseClosed } from "../../tenancy/workspaces/gate.ts";
import { forgetDraft } from "../drafts/service.ts";
import { moveStars } from "../favorites/service.ts";
import { checkOnBehalfOf } from "../scripts/deploy.ts";
import { storeImports } from "../scripts/imports/importers.ts";
import { type LockedFlow, lockWhatNeedsNothing } from "./locks.ts";
import type { NewFlow } from "./records.ts";
import { readableFlow } from "./service.ts";
import { type Flow, type FlowVersion, flows, flowVersions } from "./tables.ts";
import { validateFlow } from "./value/validate.ts";
import { findLatest, flowAt, forgetFlow, versionsAt } from "./versions.ts";

/**
 * Stores a new flow. It is ready at once when none of its scripts has dependencies to resolve; otherwise a job is queued
 * in the same transaction, and the path runs nothing until that job is done. What is archived, or a draft only, is taken
 * up again.
 * @returns the path
 * @throws BadRequest for a bad or taken path and for a flow that cannot run (naming the step), Forbidden
 */
export async function createFlow(ctx: WorkspaceContext, body: NewFlow): Promise<string> {
  const { workspace_id } = ctx.caller.member;
  const path = checkPath(body.path);
  checkOnBehalfOf(ctx, body.on_behalf_of_email);
  const locked = await toLocked(body);
  return ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`flow ${workspace_id} ${path}`);
    const previous = await findFlow(tx, workspace_id, path);
    requireWrite(ctx.caller.member, path, previous?.extra_perms);
    if (previous && !previous.archived && !previous.draft_only) {
      throw new BadRequest(`there is a flow at ${path} already: update it to deploy a new version`);
    }
    await store(ctx, tx, { ...body, path }, locked, previous);
    return path;
  });
}

/**
 * Stores a new version, under another path when the body names one. Until its scripts are locked, the path goes on
 * running the version before. An archived flow is taken up again.
 * @returns the path
 * @throws NotFound, Forbidden, BadRequest as `createFlow`
 */
export async function updateFlow(ctx: WorkspaceContext, old: string, body: NewFlow): Promise<string> {
  const { workspace_id } = ctx.caller.member;
  const path = checkPath(body.path);
  if (path !== old) checkScopes(ctx.caller.identity, { domain: "flows", action: "write" }, path);
  checkOnBehalfOf(ctx, body.on_behalf_of_email);
  const locked = await toLocked(body);
  return ctx.write({ resource: path, parameters: path === old ? {} : { old_path: old } }, async (tx) => {
    // In one order for all, so that two renames never wait for each other.
    for (const each of [...new Set([old, path])].sort()) await tx.lock(`flow ${workspace_id} ${each}`);
    const { flow } = readableFlow(ctx, await findLatest(tx, workspace_id, old), `flow ${old}`);
    requireWrite(ctx.caller.member, old, flow.extra_perms);
    if (path !== old) await rename(ctx, tx, old, path);
    await store(ctx, tx, { ...body, path }, locked, { ...flow, path });
    return path;
  });
}

/** A flow that is a draft only may be unfinished: it is checked when it is deployed. */
async function toLocked(body: NewFlow): Promise<LockedFlow> {
  if (body.draft_only) return { value: body.value, complete: false };
  validateFlow(body.value);
  return lockWhatNeedsNothing(body.value);
}

/** Versions go before their flow, as where a version's locks are settled: two transactions never wait for each other. */
async function rename(ctx: WorkspaceContext, tx: Tx, old: string, path: string): Promise<void> {
  const { member } = ctx.caller;
  const { workspace_id } = member;
  requireManage(member, old, "rename");
  const other = await findFlow(tx, workspace_id, path);
  requireWrite(member, path, other?.extra_perms);
  if (other) throw new BadRequest(`there is a flow at ${path} already`);
  await tx.update(flowVersions).set({ path }).where(versionsAt(workspace_id, old));
  await tx.update(flows).set({ path }).where(flowAt(workspace_id, old));
  await moveStars(tx, workspace_id, { kind: "flow", path: old }, path);
  await forgetDraft(tx, { workspace_id, kind: "flow", path: old });
  tx.afterCommit(() => forgetFlow(ctx.app, workspace_id, old));
}

async function store(
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
      `flow ${path} is deployed, not a draft only: keep the draft beside it (drafts/create)`,
    );
  }
  // What was never deployed is no version of the flow.
  if (previous?.draft_only) await tx.delete(flowVersions).where(versionsAt(workspace_id, path));
  const lock_job = complete || draft_only ? null : newJobId();
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
  if (!draft_only) await forgetDraft(tx, { workspace_id, kind: "flow", path });
  tx.afterCommit(() => {
    forgetFlow(app, workspace_id, path);
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
  await refuseClosed(ctx.app, tx, workspace_id);
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
  const [row] = await tx.select().from(flows).where(flowAt(workspace_id, path));
  return row;
}
