/**
 * Schemas of the workspace settings, in the HTTP interface and in the database. Fields of newer clients are kept and
 * returned.
 */
import * as z from "../../../lib/zod/z.ts";
import { LargeFileStorage } from "./storage-records.ts";

const MAX_TEXT_CHARS = 2_048;
const text = z.string().max(MAX_TEXT_CHARS, `must have at most ${MAX_TEXT_CHARS} characters`);

const AI_PROVIDERS = [
  "openai",
  "azure_openai",
  "anthropic",
  "mistral",
  "deepseek",
  "googleai",
  "groq",
  "openrouter",
  "togetherai",
  "aws_bedrock",
  "customai",
] as const;
const Provider = z.enum(AI_PROVIDERS);

export const AiResource = z.looseObject({
  /** Path of the resource with the provider's key. */
  path: text,
  provider: Provider,
});
export type AiResource = z.output<typeof AiResource>;

const AiModel = z.looseObject({ model: text, provider: Provider });

/** The AI configuration of newer clients: several providers with their models. */
export const AiConfig = z.looseObject({
  providers: z.partialRecord(
    Provider,
    z.looseObject({ resource_path: text, models: z.array(text).nullish() }),
  ),
  default_model: AiModel.nullish(),
  code_completion_model: AiModel.nullish(),
});
export type AiConfig = z.output<typeof AiConfig>;

const GIT_SYNC_TYPES = [
  "script",
  "flow",
  "app",
  "folder",
  "resource",
  "variable",
  "secret",
  "resourcetype",
  "schedule",
  "user",
  "group",
  "trigger",
  "settings",
  "key",
] as const;
const GitType = z.enum(GIT_SYNC_TYPES);

const GitRepository = z.looseObject({
  script_path: text.nullish(),
  git_repo_resource_path: text,
  use_individual_branch: z.boolean().nullish(),
  group_by_folder: z.boolean().nullish(),
  exclude_types_override: z.array(GitType).nullish(),
  collapsed: z.boolean().nullish(),
  settings: z.record(z.string(), z.unknown()).nullish(),
});

export const GitSyncSettings = z.looseObject({
  /** Globs. */
  include_path: z.array(text).nullish(),
  include_type: z.array(GitType).nullish(),
  repositories: z.array(GitRepository).nullish(),
});

export const DeployUiSettings = z.looseObject({
  include_path: z.array(text).nullish(),
  include_type: z
    .array(z.enum(["script", "flow", "app", "resource", "variable", "secret", "trigger"]))
    .nullish(),
});

const language = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,29}$/, "must be the name of a language such as `bun` or `python3`");

export const DefaultScripts = z.looseObject({
  order: z.array(language).nullish(),
  hidden: z.array(language).nullish(),
  default_script_content: z.record(language, z.string()).nullish(),
});

export const ScriptArgs = z.record(z.string(), z.unknown());

/** The default handler of schedules that name none. */
const DefaultHandler = z.looseObject({
  /** `script/<path>` or `flow/<path>`. */
  path: z.string(),
  extra_args: ScriptArgs.optional(),
  times: z.number().int().optional(),
  exact: z.boolean().optional(),
  /** For error handlers only: the workspace's error handler is not called for failures of schedules. */
  workspace_handler_muted: z.boolean().optional(),
});

/** Settings of what other clients show to operators; stored for these clients, without effect on the server. */
export const OperatorSettings = z.record(z.string(), z.unknown());

/** Handler of successful jobs, as in existing instances. It is stored for clients, and not run. */
export const SuccessHandler = z.looseObject({
  path: z.string(),
  extra_args: z.record(z.string(), z.unknown()).nullish(),
});

/** Groups of the instance whose members join, with the role of each; stored for clients, without effect here. */
const InstanceGroups = z.array(text);
const InstanceGroupRoles = z.record(z.string(), text);
/** Databases of data tables; stored for clients, without effect here. */
const DataTables = z.record(z.string(), z.unknown());

/** What clients of other servers set and this one does not honour. */
export const UnhonouredSettings = z.object({
  instance_groups: InstanceGroups.optional(),
  instance_groups_roles: InstanceGroupRoles.optional(),
  datatable: DataTables.optional(),
});

/** The stored settings. An absent field has its default; null is never stored. */
export const StoredSettings = z.object({
  auto_invite_operator: z.boolean().optional(),
  auto_add: z.boolean().optional(),
  automatic_billing: z.boolean().optional(),
  seats: z.number().int().optional(),
  deploy_to: z.string().optional(),
  ai_resource: AiResource.optional(),
  ai_config: AiConfig.optional(),
  code_completion_enabled: z.boolean().optional(),
  error_handler: z.string().optional(),
  error_handler_extra_args: ScriptArgs.optional(),
  error_handler_muted_on_cancel: z.boolean().optional(),
  /** Whether it is not called for scripts and flows below `u/`. */
  error_handler_muted_on_user_path: z.boolean().optional(),
  mute_critical_alerts: z.boolean().optional(),
  default_error_handler: DefaultHandler.optional(),
  default_recovery_handler: DefaultHandler.optional(),
  default_success_handler: DefaultHandler.optional(),
  git_sync: GitSyncSettings.optional(),
  deploy_ui: DeployUiSettings.optional(),
  default_app: z.string().optional(),
  default_scripts: DefaultScripts.optional(),
  chat_team_id: z.string().optional(),
  chat_name: z.string().optional(),
  chat_command_script: z.string().optional(),
  color: z.string().optional(),
  operator_settings: OperatorSettings.optional(),
  success_handler: SuccessHandler.optional(),
  ...UnhonouredSettings.shape,
});
export type StoredSettings = z.output<typeof StoredSettings>;

/** The response of `get_settings`: contract 2.1. Unset fields are null. */
export const WorkspaceSettings = z.object({
  workspace_id: z.string(),
  chat_name: z.string().nullable(),
  chat_team_id: z.string().nullable(),
  chat_command_script: z.string().nullable(),
  /** Aliases of the three fields above, for existing clients. */
  slack_name: z.string().nullable(),
  slack_team_id: z.string().nullable(),
  slack_command_script: z.string().nullable(),
  auto_invite_domain: z.string().nullable(),
  auto_invite_operator: z.boolean().nullable(),
  auto_add: z.boolean().nullable(),
  plan: z.string().nullable(),
  automatic_billing: z.boolean(),
  customer_id: z.string().nullable(),
  webhook: z.string().nullable(),
  deploy_to: z.string().nullable(),
  ai_resource: AiResource.nullable(),
  ai_config: AiConfig.optional(),
  openai_resource_path: z.string().nullable(),
  code_completion_enabled: z.boolean(),
  error_handler: z.string().nullable(),
  error_handler_extra_args: ScriptArgs.nullable(),
  error_handler_muted_on_cancel: z.boolean(),
  large_file_storage: LargeFileStorage.nullable(),
  git_sync: GitSyncSettings.nullable(),
  deploy_ui: DeployUiSettings.nullable(),
  default_app: z.string().nullable(),
  default_scripts: DefaultScripts.nullable(),
  /** Only for admins, and absent if unset: older clients do not know these fields. */
  default_error_handler: DefaultHandler.optional(),
  default_recovery_handler: DefaultHandler.optional(),
  default_success_handler: DefaultHandler.optional(),
  /** Absent unless true: older clients do not know this field. */
  mute_critical_alerts: z.literal(true).optional(),
  /** Absent if unset. */
  color: z.string().optional(),
  operator_settings: OperatorSettings.optional(),
  success_handler: SuccessHandler.optional(),
  error_handler_muted_on_user_path: z.literal(true).optional(),
  ...UnhonouredSettings.shape,
});
