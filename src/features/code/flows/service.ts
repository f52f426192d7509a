/** Reading and retiring flows. */
import { and, eq, inArray, isNotNull, ne, notInArray } from "drizzle-orm";
import { NotFound } from "../../../lib/errors.ts";
import { canRead, requireManage, requireWrite } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { forgetDraft } from "../drafts/service.ts";
import { type Flow, flows, flowVersions } from "./tables.ts";
import { type FlowAt, findLatest, findVersion, flowAt, forgetFlow, versionsAt } from "./versions.ts";

const WITHOUT_PATH = "";

/** The newest version of a flow. @throws NotFound, also when the caller may not read it */
export async function getFlow(ctx: WorkspaceContext, path: string): Promise<FlowAt> {
  const { app, caller } = ctx;
  return readableFlow(ctx, await findLatest(app.db.read, caller.member.workspace_id, path), `flow ${path}`);
}

/**
 * One version of a flow, by its number.
 * @param path where the flow must stand, if that is said
 * @throws NotFound, also when the caller may not read it
 */
export async function getFlowVersion(ctx: WorkspaceContext, version: string, path?: string): Promise<FlowAt> {
  const { app, caller } = ctx;
  const found = /^\d{1,15}$/.test(version)
    ? await findVersion(app.db.read, caller.member.workspace_id, Number(version))
    : undefined;
  const isThere = path === undefined || found?.flow.path === path;
  return readableFlow(
    ctx,
    isThere ? found : undefined,
    `flow version ${version}${path ? ` of ${path}` : ""}`,
  );
}

/** @throws NotFound, also when the caller may not read it */
export function readableFlow(ctx: WorkspaceContext, found: FlowAt | undefined, what: string): FlowAt {
  const { member } = ctx.caller;
  if (!found || !canRead(member, found.flow.path, found.flow.extra_perms)) {
    throw new NotFound(`${what} in workspace ${member.workspace_id}`);
  }
  return found;
}

/** Archives a flow, so that nothing of it begins any more, or takes that back. @throws NotFound, Forbidden */
export function setArchived(ctx: WorkspaceContext, path: string, archived: boolean): Promise<void> {
  return change(ctx, path, { archived }, () => requireManage(ctx.caller.member, path, "archive"));
}

/** @throws NotFound, Forbidden */
export function setErrorHandlerMuted(
  ctx: WorkspaceContext,
  path: string,
  ws_error_handler_muted: boolean,
): Promise<void> {
  return change(ctx, path, { ws_error_handler_muted }, ({ extra_perms }) =>
    requireWrite(ctx.caller.member, path, extra_perms),
  );
}

async function change(
  ctx: WorkspaceContext,
  path: string,
  set: Partial<Flow>,
  requireRight: (flow: Flow) => void,
): Promise<void> {
  const { flow } = await getFlow(ctx, path);
  requireRight(flow);
  await ctx.write({ resource: path }, async (tx) => {
    await tx.update(flows).set(set).where(flowAt(flow.workspace_id, path));
    tx.afterCommit(() => forgetFlow(ctx.app, flow.workspace_id, path));
  });
}

/** Says in the history what a version changed. @throws Forbidden */
export async function setDeploymentMessage(
  ctx: WorkspaceContext,
  found: FlowAt,
  message: string,
): Promise<void> {
  const { flow, version } = found;
  requireWrite(ctx.caller.member, flow.path, flow.extra_perms);
  await ctx.write({ resource: flow.path }, async (tx) => {
    await tx.update(flowVersions).set({ deployment_msg: message }).where(eq(flowVersions.id, version.id));
  });
}

/** Deletes a flow with its history. Runs that have begun go on, by the versions they began with. */
export async function deleteFlow(ctx: WorkspaceContext, path: string): Promise<void> {
  const { flow } = await getFlow(ctx, path);
  requireManage(ctx.caller.member, path, "delete");
  const { workspace_id } = flow;
  await ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`flow ${workspace_id} ${path}`);
    const running = tx
      .select({ id: jobs.flow_version })
      .from(jobs)
      .where(
        and(
          eq(jobs.workspace_id, workspace_id),
          inArray(jobs.state, ["queued", "running"]),
          ne(jobs.kind, "flowdependencies"),
          isNotNull(jobs.flow_version),
        ),
      );
    const versions = versionsAt(workspace_id, path);
    await tx.delete(flowVersions).where(and(versions, notInArray(flowVersions.id, running)));
    await tx.update(flowVersions).set({ path: WITHOUT_PATH }).where(versions);
    await tx.delete(flows).where(flowAt(workspace_id, path));
    await forgetDraft(tx, { workspace_id, kind: "flow", path });
    tx.afterCommit(() => forgetFlow(ctx.app, workspace_id, path));
  });
}
