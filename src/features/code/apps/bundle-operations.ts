/** Operations on apps made of code: the source is stored as the app's value, with the built bundle beside it. */
import * as z from "../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { parseJsonField, readField, readForm } from "../../../platform/http/multipart-form.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { EditApp, NewApp } from "./records.ts";
import * as service from "./service.ts";

const base = "/w/{workspace}/apps" as const;

const parts = { js: z.string().optional(), css: z.string().optional() };

async function readAppForm<S extends z.ZodObject>({ app, request }: WorkspaceContext, schema: S) {
  const form = await readForm(request, app.settings.get("request_size_limit_mb") * 1_000_000);
  const bundle = { js: (await readField(form, "js")) ?? "", css: (await readField(form, "css")) ?? "" };
  return { ...(await parseJsonField(form, "app", schema)), bundle };
}

export const createAppRaw = operation({
  name: "createAppRaw",
  method: "POST",
  path: `${base}/create_raw`,
  access: "author",
  summary: "Deploy a new app of code with its built bundle",
  reads: { "multipart/form-data": z.object({ app: NewApp, ...parts }) },
  responds: responds.created("path of the app"),
  audit: { operation: "apps.create", action_kind: "Create" },
  run: async (ctx) => service.createApp(ctx, await readAppForm(ctx, NewApp)),
});

export const updateAppRaw = operation({
  name: "updateAppRaw",
  method: "POST",
  path: `${base}/update_raw/{path}`,
  access: "author",
  summary: "Update an app of code; a value creates a new version, another path renames it",
  reads: { "multipart/form-data": z.object({ app: EditApp, ...parts }) },
  responds: responds.text("path of the app"),
  audit: { operation: "apps.update", action_kind: "Update" },
  run: async (ctx, { path }) => service.updateApp(ctx, path, await readAppForm(ctx, EditApp)),
});

export const appBundleOperations: Operation[] = [createAppRaw, updateAppRaw];
