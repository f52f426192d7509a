/** The two forms of `settings.yaml`: each setting separately, or some of them grouped, as newer clients write them. */
import type { Fields } from "./items.ts";

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the settings in the form of the archive, and whether some of them were grouped. */
export function readSettingsForm(fields: Fields): { fields: Fields; is_grouped?: true } {
  // The team is that of the connection to Slack, which is no setting.
  const { slack_name: _, slack_team_id: __, ...flat } = fields;
  const isGrouped = isObject(flat.auto_invite) || isObject(flat.error_handler);
  return isGrouped ? { fields: flatten(flat), is_grouped: true } : { fields: flat };
}

function flatten({ auto_invite, error_handler, ...rest }: Fields): Fields {
  return {
    ...rest,
    ...(isObject(auto_invite) && {
      auto_invite_enabled: auto_invite.enabled === true,
      auto_invite_as: auto_invite.operator === true ? "operator" : "developer",
      auto_invite_mode: auto_invite.mode ?? "invite",
      instance_groups: auto_invite.instance_groups,
      instance_groups_roles: auto_invite.instance_groups_roles,
    }),
    ...(isObject(error_handler)
      ? {
          error_handler: error_handler.path,
          error_handler_extra_args: error_handler.extra_args,
          error_handler_muted_on_cancel: error_handler.muted_on_cancel,
          error_handler_muted_on_user_path: error_handler.muted_on_user_path,
        }
      : { error_handler }),
  };
}

/** Returns the settings with those grouped that newer clients group. */
export function groupSettings(fields: Fields): Fields {
  const {
    auto_invite_enabled,
    auto_invite_as,
    auto_invite_mode,
    instance_groups,
    instance_groups_roles,
    error_handler,
    error_handler_extra_args: extra_args,
    error_handler_muted_on_cancel: muted_on_cancel,
    error_handler_muted_on_user_path: muted_on_user_path,
    ...rest
  } = fields;
  return {
    ...rest,
    auto_invite: {
      enabled: auto_invite_enabled === true,
      operator: auto_invite_as === "operator",
      mode: auto_invite_mode,
      ...(instance_groups !== undefined && { instance_groups, instance_groups_roles }),
    },
    error_handler: error_handler
      ? { path: error_handler, extra_args, muted_on_cancel, muted_on_user_path }
      : null,
  };
}
