/**
 * Operations on workspace defaults: the first app operators see, templates of scripts, the script of the chat command.
 */
import * as z from "../../../lib/zod/z.ts";
import {
  aliasOperation,
  type Operation,
  operation,
  optionalBody,
  responds,
} from "../../../platform/http/operation.ts";
import { findApp } from "../../code/apps/service.ts";
import { editSettings, readSettings } from "../../tenancy/workspaces/settings.ts";
import {
  DefaultScripts,
  OperatorSettings,
  SuccessHandler,
  UnhonouredSettings,
} from "../../tenancy/workspaces/settings-records.ts";
import {
  describeMissing,
  describeMissingRunnable,
  describeMissingScript,
  parsePathField,
} from "./check-runnable.ts";

const base = "/w/{workspace}/workspaces" as const;
const MAX_COLOR_CHARS = 100;
/** Limit of settings that are stored for other clients. */
const MAX_JSON_CHARS = 32_768;
const isShort = (value: unknown) => JSON.stringify(value).length <= MAX_JSON_CHARS;
const LIMIT = `must have at most ${MAX_JSON_CHARS} characters as JSON`;
const text = responds.text("confirmation");
const settingAudit = (name: string) => ({ operation: `workspaces.${name}`, action_kind: "Update" }) as const;

export const editDefaultApp = operation({
  name: "editWorkspaceDefaultApp",
  method: "POST",
  path: `${base}/edit_default_app`,
  access: "admin",
  summary: "Set the default app of operators",
  body: z.object({ default_app_path: z.string().nullish() }),
  responds: text,
  audit: settingAudit("edit_default_app"),
  run: async (ctx, { workspace, body }) => {
    const default_app = body.default_app_path
      ? parsePathField("default_app_path", body.default_app_path)
      : undefined;
    const exists = !default_app || (await findApp(ctx.app.db.read, workspace, default_app));
    const missing = exists ? "" : describeMissing("app", default_app!);
    await editSettings(ctx, { default_app }, { default_app_path: default_app ?? "" });
    return `default app of workspace ${workspace} ${default_app ? `is ${default_app}` : "removed"}${missing}`;
  },
});

export const getDefaultApp = operation({
  name: "getWorkspaceDefaultApp",
  method: "GET",
  path: `${base}/default_app`,
  access: "member",
  summary: "Read the default app of operators",
  responds: responds.json(z.object({ default_app_path: z.string().nullable() })),
  run: async (ctx, { workspace }) => ({
    default_app_path: (await readSettings(ctx.app.db.read, workspace)).default_app ?? null,
  }),
});

export const editDefaultScripts = operation({
  name: "editDefaultScripts",
  method: "POST",
  path: `${base}/default_scripts`,
  access: "admin",
  summary: "Set the languages offered for new scripts, and their templates",
  body: optionalBody(DefaultScripts),
  responds: text,
  audit: settingAudit("edit_default_scripts"),
  run: async (ctx, { workspace, body }) => {
    const default_scripts = Object.keys(body).length > 0 ? body : undefined;
    await editSettings(ctx, { default_scripts });
    return `default scripts of workspace ${workspace} ${default_scripts ? "set" : "removed"}`;
  },
});

export const changeWorkspaceColor = operation({
  name: "changeWorkspaceColor",
  method: "POST",
  path: `${base}/change_workspace_color`,
  access: "admin",
  summary: "Set the color in which clients show the workspace",
  body: z.object({
    color: z.string().max(MAX_COLOR_CHARS, `must have at most ${MAX_COLOR_CHARS} characters`).nullish(),
  }),
  responds: text,
  audit: settingAudit("change_workspace_color"),
  run: async (ctx, { workspace, body }) => {
    const color = body.color || undefined;
    await editSettings(ctx, { color }, { color: color ?? "" });
    return `color of workspace ${workspace} ${color ? `is ${color}` : "removed"}`;
  },
});

export const editOperatorSettings = operation({
  name: "updateOperatorSettings",
  method: "POST",
  path: `${base}/operator_settings`,
  access: "admin",
  summary: "Set what other clients show to operators; stored for them, without effect here",
  body: optionalBody(OperatorSettings.refine(isShort, LIMIT)),
  responds: text,
  audit: settingAudit("update_operator_settings"),
  run: async (ctx, { workspace, body }) => {
    const operator_settings = Object.keys(body).length > 0 ? body : undefined;
    await editSettings(ctx, { operator_settings });
    return `operator settings of workspace ${workspace} ${operator_settings ? "set" : "removed"}`;
  },
});

export const editSuccessHandler = operation({
  name: "editSuccessHandler",
  method: "POST",
  path: `${base}/edit_success_handler`,
  access: "admin",
  summary: "Set the success handler of the workspace, which is started after each job that succeeds",
  body: SuccessHandler.extend({
    path: z.string().nullish(),
    /** The names of older clients. */
    success_handler: z.string().nullish(),
    success_handler_extra_args: SuccessHandler.shape.extra_args,
  }),
  responds: text,
  audit: settingAudit("edit_success_handler"),
  run: async (ctx, { workspace, body }) => {
    const path = body.path || body.success_handler;
    const extra_args = body.extra_args ?? body.success_handler_extra_args;
    const success_handler = path ? { path, ...(extra_args && { extra_args }) } : undefined;
    await editSettings(ctx, { success_handler }, { success_handler: path ?? "" });
    return `success handler of workspace ${workspace} ${path ? `is ${path}` : "removed"}`;
  },
});

export const getDefaultScripts = operation({
  name: "getDefaultScripts",
  method: "GET",
  path: `${base}/default_scripts`,
  access: "member",
  summary: "Read the languages offered for new scripts, and their templates",
  responds: responds.json(DefaultScripts),
  run: async (ctx, { workspace }) => (await readSettings(ctx.app.db.read, workspace)).default_scripts ?? {},
});

export const editChatCommand = operation({
  name: "editChatCommand",
  method: "POST",
  path: `${base}/edit_chat_command`,
  access: "admin",
  summary: "Set the script that a chat command starts",
  body: z.object({ chat_command_script: z.string().nullish(), slack_command_script: z.string().nullish() }),
  responds: text,
  audit: settingAudit("edit_command_script"),
  run: async (ctx, { workspace, body }) => {
    const chat_command_script = body.chat_command_script || body.slack_command_script || undefined;
    const isTyped = /^(script|flow)\//.test(chat_command_script ?? "");
    const check = isTyped ? describeMissingRunnable : describeMissingScript;
    const missing = chat_command_script
      ? await check(ctx.app, workspace, "chat_command_script", chat_command_script)
      : "";
    await editSettings(ctx, { chat_command_script }, { chat_command_script: chat_command_script ?? "" });
    return `chat command of workspace ${workspace} ${chat_command_script ? `starts ${chat_command_script}` : "removed"}${missing}`;
  },
});

const { instance_groups, instance_groups_roles, datatable } = UnhonouredSettings.shape;

export const editInstanceGroups = operation({
  name: "editInstanceGroups",
  method: "POST",
  path: `${base}/edit_instance_groups`,
  access: "admin",
  summary: "Store which groups of the instance join the workspace, which has no effect here",
  body: z
    .object({ groups: instance_groups.nullable(), roles: instance_groups_roles.nullable() })
    .refine(isShort, LIMIT),
  responds: responds.text("confirmation"),
  audit: { operation: "workspaces.edit_instance_groups", action_kind: "Update" },
  run: async (ctx, { workspace, body }) => {
    const groups = body.groups?.length ? body.groups : undefined;
    const roles = groups && body.roles;
    await editSettings(ctx, { instance_groups: groups, instance_groups_roles: roles });
    return `instance groups of workspace ${workspace} ${groups ? "stored; members of instance groups do not join by this setting here" : "removed"}`;
  },
});

export const editDataTableConfig = operation({
  name: "editDataTableConfig",
  method: "POST",
  path: `${base}/edit_datatable_config`,
  access: "admin",
  summary: "Store the databases of data tables, which have no effect here",
  body: z.object({ settings: datatable.nullable() }).refine(isShort, LIMIT),
  responds: responds.json(z.object({ stranded_references: z.array(z.unknown()) })),
  audit: { operation: "workspaces.edit_datatable_config", action_kind: "Update" },
  run: async (ctx, { body }) => {
    const { datatables } = body.settings ?? {};
    const isEmpty = !datatables || Object.keys(datatables).length === 0;
    await editSettings(ctx, { datatable: isEmpty ? undefined : body.settings });
    return { stranded_references: [] };
  },
});

export const defaultOperations: Operation[] = [
  editDefaultApp,
  getDefaultApp,
  editDefaultScripts,
  getDefaultScripts,
  changeWorkspaceColor,
  editOperatorSettings,
  editSuccessHandler,
  editInstanceGroups,
  editDataTableConfig,
  editChatCommand,
  aliasOperation(editChatCommand, { name: "editSlackCommand", path: `${base}/edit_slack_command` }),
];
