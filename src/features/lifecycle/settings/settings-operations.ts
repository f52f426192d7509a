/** Operations that read and edit workspace settings. A field that is absent, null or empty unsets the setting. */
import { eq } from "drizzle-orm";
import { BadRequest } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { findWorkspaceWebhook, setWorkspaceWebhook } from "../../signals/webhooks/endpoints.ts";
import { hasLicense } from "../../tenancy/license/service.ts";
import { editSettings, readSettings } from "../../tenancy/workspaces/settings.ts";
import {
  DeployUiSettings,
  GitSyncSettings,
  ScriptArgs,
  WorkspaceSettings,
} from "../../tenancy/workspaces/settings-records.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { describeMissing, describeMissingRunnable, parsePathField } from "./check-runnable.ts";
import { findOpenaiPath, toAiConfig } from "./copilot-operations.ts";

const base = "/w/{workspace}/workspaces" as const;
const text = responds.text("confirmation");
const settingAudit = (name: string) => ({ operation: `workspaces.${name}`, action_kind: "Update" }) as const;

export const getSettings = operation({
  name: "getSettings",
  method: "GET",
  path: `${base}/get_settings`,
  access: "member",
  summary: "Read the workspace's settings; only admins see the targets of events and errors",
  responds: responds.json(WorkspaceSettings),
  run: async (ctx, { workspace }) => {
    const settings = await readSettings(ctx.app.db.read, workspace);
    const [row] = await ctx.app.db.read
      .select({ storage: workspaces.large_file_storage })
      .from(workspaces)
      .where(eq(workspaces.id, workspace));
    const isAdmin = ctx.caller.member.is_admin;
    return {
      workspace_id: workspace,
      chat_name: settings.chat_name ?? null,
      chat_team_id: settings.chat_team_id ?? null,
      chat_command_script: settings.chat_command_script ?? null,
      slack_name: settings.chat_name ?? null,
      slack_team_id: settings.chat_team_id ?? null,
      slack_command_script: settings.chat_command_script ?? null,
      auto_invite_domain: settings.auto_invite_domain ?? null,
      auto_invite_operator: settings.auto_invite_operator ?? null,
      auto_add: settings.auto_add ?? null,
      plan: (await hasLicense(ctx.app)) ? "enterprise" : null,
      automatic_billing: settings.automatic_billing ?? false,
      // Workspaces of a self-hosted instance have no customer: nobody is billed.
      customer_id: null,
      webhook: isAdmin ? await findWorkspaceWebhook(ctx.app.db.read, workspace) : null,
      deploy_to: settings.deploy_to ?? null,
      ai_resource: settings.ai_resource ?? null,
      // Omitted if unset: clients compare it with their files.
      ai_config: toAiConfig(settings),
      openai_resource_path: findOpenaiPath(settings) ?? null,
      code_completion_enabled: settings.code_completion_enabled ?? false,
      error_handler: settings.error_handler ?? null,
      error_handler_extra_args: (isAdmin && settings.error_handler_extra_args) || null,
      error_handler_muted_on_cancel: settings.error_handler_muted_on_cancel ?? false,
      large_file_storage: row?.storage ?? null,
      git_sync: settings.git_sync ?? null,
      deploy_ui: settings.deploy_ui ?? null,
      default_app: settings.default_app ?? null,
      default_scripts: settings.default_scripts ?? null,
      default_error_handler: isAdmin ? settings.default_error_handler : undefined,
      default_recovery_handler: isAdmin ? settings.default_recovery_handler : undefined,
      default_success_handler: isAdmin ? settings.default_success_handler : undefined,
      color: settings.color,
      operator_settings: settings.operator_settings,
      success_handler: isAdmin ? settings.success_handler : undefined,
      ...(settings.error_handler_muted_on_user_path && { error_handler_muted_on_user_path: true as const }),
      instance_groups: settings.instance_groups,
      instance_groups_roles: settings.instance_groups_roles,
      datatable: settings.datatable,
      ...(settings.mute_critical_alerts ? { mute_critical_alerts: true as const } : {}),
    };
  },
});

export const getDeployTo = operation({
  name: "getDeployTo",
  method: "GET",
  path: `${base}/get_deploy_to`,
  access: "member",
  summary: "Read the workspace that this one is deployed to",
  responds: responds.json(z.object({ deploy_to: z.string().nullable() })),
  run: async (ctx, { workspace }) => ({
    deploy_to: (await readSettings(ctx.app.db.read, workspace)).deploy_to ?? null,
  }),
});

export const editDeployTo = operation({
  name: "editDeployTo",
  method: "POST",
  path: `${base}/edit_deploy_to`,
  access: "admin",
  summary: "Set the workspace that this one is deployed to",
  body: z.object({ deploy_to: z.string().nullish() }),
  responds: text,
  audit: settingAudit("edit_deploy_to"),
  run: async (ctx, { workspace, body }) => {
    const deploy_to = body.deploy_to || undefined;
    if (deploy_to === workspace) {
      throw new BadRequest("body field `deploy_to`: must be another workspace than this one");
    }
    const exists = deploy_to === undefined || (await existsWorkspace(ctx, deploy_to));
    await editSettings(ctx, { deploy_to }, { deploy_to: deploy_to ?? "" });
    const missing = exists ? "" : describeMissing("workspace", deploy_to!);
    return `workspace ${workspace} is deployed to ${deploy_to ?? "nowhere"}${missing}`;
  },
});

async function existsWorkspace({ app }: WorkspaceContext, id: string): Promise<boolean> {
  const [found] = await app.db.read
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(eq(workspaces.id, id));
  return found !== undefined;
}

export const editWebhook = operation({
  name: "editWebhook",
  method: "POST",
  path: `${base}/edit_webhook`,
  access: "admin",
  summary: "Set the URL that the workspace's events are sent to",
  body: z.object({ webhook: z.string().nullish() }),
  responds: text,
  audit: settingAudit("edit_webhook"),
  run: async (ctx, { workspace, body }) => {
    const webhook = body.webhook || null;
    await setWorkspaceWebhook(ctx, webhook);
    return `webhook of workspace ${workspace} ${webhook ? "set" : "removed"}`;
  },
});

/** Newer clients use the short field names. */
const ErrorHandler = z.object({
  error_handler: z.string().nullish(),
  error_handler_extra_args: ScriptArgs.nullish(),
  error_handler_muted_on_cancel: z.boolean().nullish(),
  error_handler_muted_on_user_path: z.boolean().nullish(),
  path: z.string().nullish(),
  extra_args: ScriptArgs.nullish(),
  muted_on_cancel: z.boolean().nullish(),
  muted_on_user_path: z.boolean().nullish(),
});

export const editErrorHandler = operation({
  name: "editErrorHandler",
  method: "POST",
  path: `${base}/edit_error_handler`,
  access: "admin",
  summary: "Set the error handler of the workspace",
  body: ErrorHandler,
  responds: text,
  audit: settingAudit("edit_error_handler"),
  run: async (ctx, { workspace, body }) => {
    const error_handler = body.error_handler || body.path || undefined;
    const missing = error_handler
      ? await describeMissingRunnable(ctx.app, workspace, "error_handler", error_handler)
      : "";
    const error_handler_extra_args = body.error_handler_extra_args ?? body.extra_args;
    const error_handler_muted_on_cancel = body.error_handler_muted_on_cancel ?? body.muted_on_cancel;
    const change = {
      error_handler,
      error_handler_extra_args,
      error_handler_muted_on_cancel,
      error_handler_muted_on_user_path:
        (body.error_handler_muted_on_user_path ?? body.muted_on_user_path) || undefined,
    };
    await editSettings(ctx, change, { error_handler: error_handler ?? "" });
    return `error handler of workspace ${workspace} ${error_handler ? `is ${error_handler}` : "removed"}${missing}`;
  },
});

export const editGitSyncConfig = operation({
  name: "editWorkspaceGitSyncConfig",
  method: "POST",
  path: `${base}/edit_git_sync_config`,
  access: "admin",
  summary: "Set the git sync of the workspace",
  body: z.object({ git_sync_settings: GitSyncSettings.nullish() }),
  responds: responds.json(z.string()),
  audit: settingAudit("edit_git_sync_config"),
  run: async (ctx, { workspace, body }) => {
    const git_sync = body.git_sync_settings;
    for (const [index, repository] of (git_sync?.repositories ?? []).entries()) {
      const field = `git_sync_settings.repositories.${index}.git_repo_resource_path`;
      parsePathField(field, repository.git_repo_resource_path.replace(/^\$res:/, ""));
    }
    await editSettings(ctx, { git_sync });
    return `git sync of workspace ${workspace} ${git_sync ? "set" : "removed"}`;
  },
});

export const editDeployUiConfig = operation({
  name: "editWorkspaceDeployUISettings",
  method: "POST",
  path: `${base}/edit_deploy_ui_config`,
  access: "admin",
  summary: "Set which items may be deployed to another workspace in the UI",
  body: z.object({ deploy_ui_settings: DeployUiSettings.nullish() }),
  responds: responds.json(z.string()),
  audit: settingAudit("edit_deploy_ui_config"),
  run: async (ctx, { workspace, body }) => {
    const deploy_ui = body.deploy_ui_settings;
    await editSettings(ctx, { deploy_ui });
    return `deploy UI of workspace ${workspace} ${deploy_ui ? "set" : "removed"}`;
  },
});

export const workspaceSettingsOperations: Operation[] = [
  getSettings,
  getDeployTo,
  editDeployTo,
  editWebhook,
  editErrorHandler,
  editGitSyncConfig,
  editDeployUiConfig,
];
