/** Operations on apps: user-made pages with versions, and a policy that says who may run what. */
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { deleteIfExists } from "../../../platform/access/deletion.ts";
import type { App } from "../../../platform/app/context.ts";
import { type Operation, operation, queryBoolean, responds } from "../../../platform/http/operation.ts";
import { DraftFields, draftQuery, readDrafts } from "../drafts/service.ts";
import { hasStarred } from "../favorites/service.ts";
import { AppHistory, AppRecord, EditApp, NewApp } from "./records.ts";
import * as service from "./service.ts";

const base = "/w/{workspace}/apps" as const;

export async function toAppRecord({ db }: Pick<App, "db">, found: service.AppWithVersion) {
  return { ...toShownApp(found), versions: await service.listVersionIds(db.read, found.app) };
}

function toShownApp({ app, version }: service.AppWithVersion) {
  const { version: _, policy, ...rest } = app;
  const { created_by, created_at, value } = version;
  return { ...rest, policy, execution_mode: policy.execution_mode, created_by, created_at, value };
}

export const createApp = operation({
  name: "createApp",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Deploy a new app",
  body: NewApp,
  responds: responds.created("path of the app"),
  audit: { operation: "apps.create", action_kind: "Create" },
  run: (ctx, { body }) => service.createApp(ctx, body),
});

const updates = { operation: "apps.update", action_kind: "Update" } as const;

export const updateApp = operation({
  name: "updateApp",
  method: "POST",
  path: `${base}/update/{path}`,
  access: "author",
  summary: "Update an app; a value creates a new version, another path renames it",
  body: EditApp,
  responds: responds.text("path of the app"),
  audit: updates,
  run: (ctx, { path, body }) => service.updateApp(ctx, path, body),
});

const getAppByPath = operation({
  name: "getAppByPath",
  method: "GET",
  path: `${base}/get/p/{path}`,
  access: "member",
  summary: "Read the newest version of an app",
  query: z.object({ with_starred_info: queryBoolean.default(false) }),
  responds: responds.json(AppRecord.extend({ starred: z.boolean().optional() })),
  run: async (ctx, { path, query }) => ({
    ...(await toAppRecord(ctx.app, await service.getApp(ctx, path))),
    ...(query.with_starred_info && { starred: await hasStarred(ctx, { kind: "app", path }) }),
  }),
});

const getAppLite = operation({
  name: "getAppLiteByPath",
  method: "GET",
  path: `${base}/get/lite/{path}`,
  access: "member",
  summary: "Read the newest version of an app, without its history",
  responds: responds.json(AppRecord),
  run: async (ctx, { path }) => {
    const found = await service.getApp(ctx, path);
    return { ...toShownApp(found), versions: [found.app.version] };
  },
});

const getAppByVersion = operation({
  name: "getAppByVersion",
  method: "GET",
  path: `${base}/get/v/{id}`,
  access: "member",
  summary: "Read one version of an app",
  responds: responds.json(AppRecord),
  run: async (ctx, { id }) => toAppRecord(ctx.app, await service.getAppVersion(ctx, id)),
});

const getAppByPathWithDraft = operation({
  name: "getAppByPathWithDraft",
  method: "GET",
  path: `${base}/get/draft/{path}`,
  access: "member",
  summary:
    "Read the newest version of an app, with the draft of the caller or of `draft_of`, and who else keeps one",
  query: draftQuery,
  responds: responds.json(AppRecord.extend(DraftFields)),
  run: async (ctx, { path, query }) => ({
    ...(await toAppRecord(ctx.app, await service.getApp(ctx, path))),
    ...(await readDrafts(ctx, { kind: "app", path, ...query })),
  }),
});

const getAppHistory = operation({
  name: "getAppHistoryByPath",
  method: "GET",
  path: `${base}/history/p/{path}`,
  access: "member",
  summary: "List the versions of an app, newest first",
  responds: responds.json(z.array(AppHistory)),
  run: (ctx, { path }) => service.listAppHistory(ctx, path),
});

const getAppLatestVersion = operation({
  name: "getAppLatestVersion",
  method: "GET",
  path: `${base}/get_latest_version/{path}`,
  access: "member",
  summary: "Read the id of an app's newest version",
  responds: responds.json(AppHistory),
  run: async (ctx, { path }) => (await service.listAppHistory(ctx, path))[0]!,
});

const updateAppHistory = operation({
  name: "updateAppHistory",
  method: "POST",
  path: `${base}/history_update/a/{id}/v/{version}`,
  access: "author",
  summary: "Set the deployment message of a version",
  body: z.object({ deployment_msg: optionalField(z.string()) }),
  responds: responds.text("confirmation"),
  audit: updates,
  run: async (ctx, { id, version, body }) => {
    await service.setAppDeploymentMessage(ctx, { id, version }, body.deployment_msg);
    return `version ${version} of app ${id} updated`;
  },
});

export const deleteApp = operation({
  name: "deleteApp",
  method: "DELETE",
  path: `${base}/delete/{path}`,
  access: "author",
  summary: "Delete an app with its history",
  responds: responds.text("confirmation"),
  audit: { operation: "apps.delete", action_kind: "Delete" },
  run: (ctx, { path }) => deleteIfExists(ctx, "app", path, () => service.deleteApp(ctx, path)),
});

export const appOperations: Operation[] = [
  createApp,
  updateApp,
  getAppByPath,
  getAppLite,
  getAppByVersion,
  getAppByPathWithDraft,
  getAppHistory,
  getAppLatestVersion,
  updateAppHistory,
  deleteApp,
];
