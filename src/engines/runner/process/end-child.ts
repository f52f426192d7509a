/**
 * Kills a child whose job is stopped. Its query in a database server is cancelled first, because it would continue
 * without its client.
 */

import { waitAtMost } from "../../../lib/async/sleep.ts";
import type { RunnableLanguage } from "../../languages/languages.ts";
import type { RunnerOptions } from "../types.ts";
import type { Child } from "./child.ts";

/** Languages whose statements run outside of the child. */
const REMOTE_QUERY_LANGUAGES = new Set<RunnableLanguage>(["postgresql", "mysql"]);

/** Time that cancelling may take. */
const CANCEL_TIMEOUT_MS = 2_000;

/**
 * Kills a child that runs a job, and everything it started; its query in a database server is cancelled first. Does not
 * throw.
 */
export async function endChild(
  child: Child,
  language: RunnableLanguage,
  log: RunnerOptions["log"],
): Promise<void> {
  Object.assign(child, { onExit: undefined, onMessage: undefined, onDisconnect: undefined });
  try {
    await cancelRemoteQuery(child, language);
    await child.destroy();
  } catch (cause) {
    log("error", "a script process could not be ended", { error: String(cause) });
  }
}

/** Tells the child to cancel its query: a database would continue without its client. */
function cancelRemoteQuery(child: Child, language: RunnableLanguage): Promise<void> {
  if (child.exited || !REMOTE_QUERY_LANGUAGES.has(language)) return Promise.resolve();
  const { promise: stopped, resolve: done } = Promise.withResolvers<unknown>();
  child.onMessage = (message) => {
    if (message.t === "stopped") done(message);
  };
  child.onExit = done;
  try {
    child.send({ t: "stop" });
  } catch {
    return Promise.resolve();
  }
  return waitAtMost(CANCEL_TIMEOUT_MS, stopped);
}
