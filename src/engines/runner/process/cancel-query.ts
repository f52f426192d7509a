/** Cancels queries that run in a database server and outlive their client. */

import { waitAtMost } from "../../../lib/async/sleep.ts";
import type { RunnableLanguage } from "../../languages/languages.ts";
import type { Child } from "./child.ts";

/** Languages whose statements run outside of the child. */
const REMOTE_QUERY_LANGUAGES = new Set<RunnableLanguage>(["postgresql", "mysql"]);

/** Time that cancelling may take. */
const CANCEL_TIMEOUT_MS = 2_000;

/** Tells the child to cancel its query: a database would continue without its client. */
export function cancelRemoteQuery(child: Child, language: RunnableLanguage): Promise<void> {
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
