/** Reads, archives and deletes flows. */
import { and, eq, isNotNull, ne, notInArray } from "drizzle-orm";
import { NotFound } from "../../../lib/errors.ts";
import { canRead, requireManageAccess, requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { createUnfinishedCondition } from "../../../platform/queue/queued-slices.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { deleteDraftRows } from "../drafts/service.ts";
import { type Flow, flows, flowVersions } from "./tables.ts";
import {
  type FlowWithVersion,
  findFlowVersion,
  findLatestFlow,
  invalidateFlow,
  whereFlow,
  whereVersions,
} from "./versions.ts";

const DELETED_PATH = "";

/** Returns the newest version of a flow. @throws NotFound, also if the caller may not read it */
export async function getFlow(ctx: WorkspaceContext, path: string): Promise<FlowWithVersion> {
  const { app, caller } = ctx;
  return requireReadableFlow(
    ctx,
    await findLatestFlow(app.db.read, caller.member.workspace_id, path),
    `flow ${path}`,
  );
}

/**
 * Returns a version by its number.
 * @param path must be the flow's path, if given
 * @throws NotFound, also if the caller may not read it
 */
export async function getFlowVersion(
  ctx: WorkspaceContext,
  version: string,
  path?: string,
): Promise<FlowWithVersion> {
  const { app, caller } = ctx;
  const found = /^\d{1,15}$/.test(version)
    ? await findFlowVersion(app.db.read, caller.member.workspace_id, Number(version))
    : undefined;
  const isThere = path === undefined || found?.flow.path === path;
  return requireReadableFlow(
    ctx,
    isThere ? found : undefined,
    `flow version ${version}${path ? ` of ${path}` : ""}`,
  );
}

/** Returns the flow if the caller may read it. @throws NotFound, also when the caller may not read it */
export function requireReadableFlow(
  ctx: WorkspaceContext,
  found: FlowWithVersion | undefined,
  what: string,
): FlowWithVersion {
  const { member } = ctx.caller;
  if (!found || !canRead(member, found.flow.path, found.flow.extra_perms)) {
    throw new NotFound(`${what} in workspace ${member.workspace_id}`);
  }
  return found;
}

/** Archives a flow, so that it cannot be run any more, or restores it. @throws NotFound, Forbidden */
export function setFlowArchived(ctx: WorkspaceContext, path: string, archived: boolean): Promise<void> {
  return updateFlowRow(ctx, path, { archived }, () =>
    requireManageAccess(ctx.caller.member, path, "archive"),
  );
}

/** Sets whether failures of a flow skip the workspace's error handler. @throws NotFound, Forbidden */
export function setFlowErrorHandlerMuted(
  ctx: WorkspaceContext,
  path: string,
  ws_error_handler_muted: boolean,
): Promise<void> {
  return updateFlowRow(ctx, path, { ws_error_handler_muted }, ({ extra_perms }) =>
    requireWriteAccess(ctx.caller.member, path, extra_perms),
  );
}

async function updateFlowRow(
  ctx: WorkspaceContext,
  path: string,
  set: Partial<Flow>,
  requireRight: (flow: Flow) => void,
): Promise<void> {
  const { flow } = await getFlow(ctx, path);
  requireRight(flow);
  await ctx.write({ resource: path }, async (tx) => {
    await tx.update(flows).set(set).where(whereFlow(flow.workspace_id, path));
    tx.afterCommit(() => invalidateFlow(ctx.app, flow.workspace_id, path));
  });
}

/** Sets the deployment message of a version. @throws Forbidden */
export async function setFlowDeploymentMessage(
  ctx: WorkspaceContext,
  found: FlowWithVersion,
  message: string,
): Promise<void> {
  const { flow, version } = found;
  requireWriteAccess(ctx.caller.member, flow.path, flow.extra_perms);
  await ctx.write({ resource: flow.path }, async (tx) => {
    await tx.update(flowVersions).set({ deployment_msg: message }).where(eq(flowVersions.id, version.id));
  });
}

/**
 * Deletes a flow with its history. Started runs continue: the versions they use are kept without a path. Who began a
 * flow that was never deployed may delete it too. @throws NotFound, Forbidden
 */
export async function deleteFlow(ctx: WorkspaceContext, path: string): Promise<void> {
  const { member } = ctx.caller;
  const { workspace_id } = member;
  await ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`flow ${workspace_id} ${path}`);
    const { flow } = requireReadableFlow(ctx, await findLatestFlow(tx, workspace_id, path), `flow ${path}`);
    if (flow.draft_only && flow.edited_by === ctx.username)
      requireWriteAccess(member, path, flow.extra_perms);
    else requireManageAccess(member, path, "delete");
    const hasVersion = and(ne(jobs.kind, "flowdependencies"), isNotNull(jobs.flow_version));
    const running = tx
      .select({ id: jobs.flow_version })
      .from(jobs)
      .where(createUnfinishedCondition(and(eq(jobs.workspace_id, workspace_id), hasVersion)));
    const versions = whereVersions(workspace_id, path);
    await tx.delete(flowVersions).where(and(versions, notInArray(flowVersions.id, running)));
    await tx.update(flowVersions).set({ path: DELETED_PATH }).where(versions);
    await tx.delete(flows).where(whereFlow(workspace_id, path));
    await deleteDraftRows(tx, { workspace_id, kind: "flow", path });
    tx.afterCommit(() => invalidateFlow(ctx.app, workspace_id, path));
  });
}
