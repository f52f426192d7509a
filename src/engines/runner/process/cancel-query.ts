/** What a job has others do, which does not end with its process. */

import type { RunnableLanguage } from "../../languages/languages.ts";
import type { Child } from "./child.ts";

/** Languages whose statements run in another process than the child. */
const RUNS_ELSEWHERE = new Set<RunnableLanguage>(["postgresql", "mysql"]);

/** How long ending what runs there may take. */
const STOP_MS = 2_000;

/** A database goes on with a statement whose client has gone: the child, which knows how, is told to end it. */
export function stopElsewhere(child: Child, language: RunnableLanguage): Promise<void> {
  if (child.exited || !RUNS_ELSEWHERE.has(language)) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, STOP_MS);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    child.onMessage = (message) => {
      if (message.t === "stopped") done();
    };
    child.onExit = done;
    try {
      child.send({ t: "stop" });
    } catch {
      done();
    }
  });
}
