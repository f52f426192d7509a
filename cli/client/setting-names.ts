/** Names of workspace settings; apart from what changes them, so that help does not load the operations. */

export const SETTINGS_BY_NAME = [
  "name",
  "webhook",
  "deploy_to",
  "default_app",
  "chat_command_script",
  "error_handler",
  "error_handler_extra_args",
  "error_handler_muted_on_cancel",
  "error_handler_muted_on_user_path",
  "auto_invite_operator",
  "auto_add",
  "ai_config",
  "ai_resource",
  "code_completion_enabled",
  "automatic_billing",
  "large_file_storage",
  "git_sync",
  "deploy_ui",
  "default_scripts",
  "color",
  "operator_settings",
  "success_handler",
  "instance_groups",
  "instance_groups_roles",
  "datatable",
] as const;

/** Prefix of variables of all jobs: `env.REGION`. */
export const ENVIRONMENT_PREFIX = "env.";

export const SETTING_NAMES = [...SETTINGS_BY_NAME, `${ENVIRONMENT_PREFIX}<NAME>`];
