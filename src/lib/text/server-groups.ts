/**
 * The groups that server-initiated jobs run as. Admins grant rights to them as to any group; members of such a group
 * see its jobs. Jobs show them like usernames, so no user has their names.
 */

/** Runs the workspace's error handler. */
export const ERROR_HANDLER_GROUP = "error_handler";
/** Runs the workspace's success handler. */
export const SUCCESS_HANDLER_GROUP = "success_handler";
/** Runs jobs started by a command in Slack. */
export const CHAT_GROUP = "chat";

export const SERVER_GROUPS: readonly string[] = [ERROR_HANDLER_GROUP, SUCCESS_HANDLER_GROUP, CHAT_GROUP];
