import { and, desc, eq } from "drizzle-orm";
import * as z from "../../../lib/zod/z.ts";
import { deleteIfExists } from "../../../platform/access/deletion.ts";
import {
  type Operation,
  operation,
  optionalBody,
  queryBoolean,
  responds,
} from "../../../platform/http/operation.ts";
import { addNotOfferedHeader } from "../../tenancy/rights/not-offered.ts";
import { DraftFields, draftQuery, readDrafts } from "../drafts/service.ts";
import { hasStarred } from "../favorites/service.ts";
import * as deploy from "./deploy.ts";
import { FlowRecord, FlowVersionRecord, NewFlow } from "./records.ts";
import * as service from "./service.ts";
import { flowVersions } from "./tables.ts";
import type { FlowWithVersion } from "./versions.ts";

const base = "/w/{workspace}/flows" as const;

function toFlowRecord({ flow, version }: FlowWithVersion) {
  const { version: _, ready_version: __, extra, ...rest } = flow;
  return {
    ...extra,
    ...rest,
    value: version.value,
    schema: version.schema,
    version_id: version.id,
    edited_by: version.created_by,
    edited_at: version.created_at,
    starred: false,
  };
}

export const createFlow = operation({
  name: "createFlow",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Deploy a new flow",
  body: NewFlow,
  responds: responds.created("path of the flow"),
  audit: { operation: "flows.create", action_kind: "Create" },
  run: async (ctx, { body }) => addNotOfferedHeader(await deploy.createFlow(ctx, body), body, body.extra),
});

const updates = { operation: "flows.update", action_kind: "Update" } as const;

export const updateFlow = operation({
  name: "updateFlow",
  method: "POST",
  path: `${base}/update/{path}`,
  access: "author",
  summary: "Deploy a new version of a flow, and rename it if the body has another path",
  body: NewFlow,
  responds: responds.text("path of the flow"),
  audit: updates,
  run: async (ctx, { path, body }) =>
    addNotOfferedHeader(await deploy.updateFlow(ctx, path, body), body, body.extra),
});

export const getFlowByPath = operation({
  name: "getFlowByPath",
  method: "GET",
  path: `${base}/get/{path}`,
  access: "member",
  summary: "Read the newest version of a flow",
  query: z.object({ with_starred_info: queryBoolean.default(false) }),
  responds: responds.json(FlowRecord),
  run: async (ctx, { path, query }) => {
    const found = toFlowRecord(await service.getFlow(ctx, path));
    if (!query.with_starred_info) return found;
    return { ...found, starred: await hasStarred(ctx, { kind: "flow", path }) };
  },
});

const getFlowByPathWithDraft = operation({
  name: "getFlowByPathWithDraft",
  method: "GET",
  path: `${base}/get/draft/{path}`,
  access: "member",
  summary:
    "Read the newest version of a flow, with the draft of the caller or of `draft_of`, and who else keeps one",
  query: draftQuery,
  responds: responds.json(FlowRecord.extend(DraftFields)),
  run: async (ctx, { path, query }) => ({
    ...toFlowRecord(await service.getFlow(ctx, path)),
    ...(await readDrafts(ctx, { kind: "flow", path, ...query })),
  }),
});

const getFlowVersion = operation({
  name: "getFlowVersion",
  method: "GET",
  path: `${base}/get/v/{version}`,
  access: "member",
  summary: "Read one version of a flow",
  responds: responds.json(FlowRecord),
  run: async (ctx, { version }) => toFlowRecord(await service.getFlowVersion(ctx, version)),
});

const getFlowVersionByPath = operation({
  name: "getFlowVersionByPath",
  method: "GET",
  path: `${base}/get/v/{version}/p/{path}`,
  access: "member",
  summary: "Read one version of the flow at this path",
  responds: responds.json(FlowRecord),
  run: async (ctx, { version, path }) => toFlowRecord(await service.getFlowVersion(ctx, version, path)),
});

/** The columns of a version that histories show. */
const { id, created_at, deployment_msg } = flowVersions;
const versionColumns = { id, created_at, deployment_msg };

export const getFlowHistory = operation({
  name: "getFlowHistory",
  method: "GET",
  path: `${base}/history/p/{path}`,
  access: "member",
  summary: "List the versions of a flow, newest first",
  responds: responds.json(z.array(FlowVersionRecord)),
  run: async (ctx, { workspace, path }) => {
    await service.getFlow(ctx, path);
    return ctx.app.db.read
      .select(versionColumns)
      .from(flowVersions)
      .where(and(eq(flowVersions.workspace_id, workspace), eq(flowVersions.path, path)))
      .orderBy(desc(id));
  },
});

const getFlowLatestVersion = operation({
  name: "getFlowLatestVersion",
  method: "GET",
  path: `${base}/get_latest_version/{path}`,
  access: "member",
  summary: "Read the number of a flow's newest version",
  responds: responds.json(FlowVersionRecord),
  run: async (ctx, { path }) => {
    const { version } = await service.getFlow(ctx, path);
    return { id: version.id, created_at: version.created_at, deployment_msg: version.deployment_msg };
  },
});

const updateFlowHistory = operation({
  name: "updateFlowHistory",
  method: "POST",
  path: `${base}/history_update/v/{version}/p/{path}`,
  access: "author",
  summary: "Set the deployment message of a version",
  body: z.object({ deployment_msg: z.string() }),
  responds: responds.text("confirmation"),
  audit: updates,
  run: async (ctx, { version, path, body }) => {
    const found = await service.getFlowVersion(ctx, version, path);
    await service.setFlowDeploymentMessage(ctx, found, body.deployment_msg);
    return `version ${version} of flow ${path} updated`;
  },
});

export const getFlowDeploymentStatus = operation({
  name: "getFlowDeploymentStatus",
  method: "GET",
  path: `${base}/deployment_status/p/{path}`,
  access: "member",
  summary:
    "Report whether the newest version of a flow can run, and which job resolves its scripts' dependencies",
  responds: responds.json(
    z.object({ ready: z.boolean(), lock_error_logs: z.string().optional(), job_id: z.string().optional() }),
  ),
  run: async (ctx, { path }) => {
    const { ready, lock_error_logs, lock_job } = (await service.getFlow(ctx, path)).version;
    return { ready, lock_error_logs: lock_error_logs ?? undefined, job_id: lock_job ?? undefined };
  },
});

export const archiveFlowByPath = operation({
  name: "archiveFlowByPath",
  method: "POST",
  path: `${base}/archive/{path}`,
  access: "author",
  summary: "Archive a flow, or restore it with `archived: false`",
  body: optionalBody(z.object({ archived: z.boolean().default(true) })),
  responds: responds.text("confirmation"),
  audit: { operation: "flows.archive", action_kind: "Update" },
  run: async (ctx, { path, body: { archived } }) => {
    await service.setFlowArchived(ctx, path, archived);
    return `flow ${path} ${archived ? "archived" : "unarchived"}`;
  },
});

export const deleteFlowByPath = operation({
  name: "deleteFlowByPath",
  method: "DELETE",
  path: `${base}/delete/{path}`,
  access: "author",
  summary: "Delete a flow with all its versions",
  responds: responds.text("confirmation"),
  audit: { operation: "flows.delete", action_kind: "Delete" },
  run: (ctx, { path }) => deleteIfExists(ctx, "flow", path, () => service.deleteFlow(ctx, path)),
});

const toggleWorkspaceErrorHandlerForFlow = operation({
  name: "toggleWorkspaceErrorHandlerForFlow",
  method: "POST",
  path: `${base}/toggle_workspace_error_handler/{path}`,
  access: "author",
  summary: "Mute or unmute the workspace's error handler for a flow",
  body: z.object({ muted: z.boolean().default(false) }),
  responds: responds.text("confirmation"),
  audit: updates,
  run: async (ctx, { path, body: { muted } }) => {
    await service.setFlowErrorHandlerMuted(ctx, path, muted);
    return `error handler ${muted ? "muted" : "unmuted"} for flow ${path}`;
  },
});

export const flowOperations: Operation[] = [
  createFlow,
  updateFlow,
  getFlowByPath,
  getFlowByPathWithDraft,
  getFlowVersion,
  getFlowVersionByPath,
  getFlowHistory,
  getFlowLatestVersion,
  updateFlowHistory,
  getFlowDeploymentStatus,
  archiveFlowByPath,
  deleteFlowByPath,
  toggleWorkspaceErrorHandlerForFlow,
];
