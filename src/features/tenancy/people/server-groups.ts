/**
 * The groups as which the server starts jobs that no person asks for. An admin gives rights to them as to others; who is
 * in one sees its jobs.
 */

/** The workspace's error handler. */
export const ERROR_HANDLERS = "error_handler";
/** What commands in the chat product start. */
export const CHAT = "chat";

export const SERVER_GROUPS: readonly string[] = [ERROR_HANDLERS, CHAT];
