/**
 * Questions of one server to all others of its PostgreSQL: for what only one of them has in memory, where whoever knows the
 * answer gives it and nobody answers otherwise; and whether all have heard of something, where everybody answers.
 */

import { perApp } from "../../lib/async/per-app.ts";
import { withinMs } from "../../lib/async/sleep.ts";
import { newJobId } from "../../lib/text/ids.ts";
import type { App } from "../app/context.ts";

/** Being told and telling takes milliseconds: who has not answered by then does not know. */
const PATIENCE_MS = 2_000;
/** How often who has not said so yet is told again: a server that was cut off may have missed it. */
const AGAIN_MS = 1_000;
const ASK = "ask";
const ANSWER = "answer";

type Answer = string | undefined;
const answerers = new Map<string, (app: App, ...words: string[]) => Answer | Promise<Answer>>();
/** Who waits here, by question. */
const waitingOf = perApp<App, Map<string, (answer: string) => void>>(() => new Map());

/**
 * Declares what may be asked.
 * @param know called on every other server; undefined for what it does not know
 * @returns asks; undefined when nobody knew, which takes 2 s, or when there is nobody else, which takes none. Words and
 * answers are read by whoever watches the database: what is secret is sealed, and they hold 7,000 bytes at most
 */
export function askedElsewhere<W extends string[]>(
  name: string,
  know: (app: App, ...words: W) => string | undefined,
): (app: App, ...words: W) => Promise<string | undefined> {
  answerers.set(name, know as (app: App, ...words: string[]) => string | undefined);
  return async (app, ...words) => {
    if (!app.db.channel) return undefined;
    const waiting = waitingOf(app);
    const id = newJobId();
    const answered = Promise.withResolvers<string | undefined>();
    const timer = setTimeout(answered.resolve, PATIENCE_MS, undefined);
    waiting.set(id, answered.resolve);
    app.relay.tell(ASK, id, name, ...words);
    try {
      return await answered.promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(id);
    }
  };
}

/**
 * Declares what all servers are told that somebody counts on.
 * @param heed called on every other server: when it resolves, the server acts on what it was told. May be called again
 * @returns tells, and resolves once all of those have said so that `whom` names then, as in the list of workers; or after
 * `most_ms`, since one may live and have no ear for it
 */
export function heededElsewhere<W extends string[]>(
  name: string,
  heed: (app: App, ...words: W) => Promise<void>,
): (app: App, whom: () => Promise<readonly string[]>, most_ms: number, ...words: W) => Promise<void> {
  const heeding = async (app: App, ...words: string[]) => {
    await heed(app, ...(words as W));
    return app.queue.worker;
  };
  answerers.set(name, heeding);
  return async (app, whom, most_ms, ...words) => {
    const end = performance.now() + most_ms;
    const waiting = waitingOf(app);
    const id = newJobId();
    const done = new Set<string>();
    let heard = Promise.withResolvers<void>();
    waiting.set(id, (server) => {
      done.add(server);
      heard.resolve();
    });
    try {
      for (let told = Number.NEGATIVE_INFINITY; performance.now() < end; ) {
        heard = Promise.withResolvers();
        if ((await whom()).every((server) => done.has(server))) return;
        if (performance.now() - told >= AGAIN_MS) {
          told = performance.now();
          app.relay.tell(ASK, id, name, ...words);
        }
        await withinMs(AGAIN_MS, heard.promise, () => new Error("nobody answered")).catch(() => {});
      }
    } finally {
      waiting.delete(id);
    }
  };
}

/** From now on this server answers, and hears what is answered. */
export function followQuestions(app: App): void {
  app.relay.on(ASK, (id, name, ...words) => {
    const tell = (answer: Answer) => answer !== undefined && app.relay.tell(ANSWER, id!, answer);
    const answer = answerers.get(name!)?.(app, ...words);
    if (answer instanceof Promise) answer.then(tell, (cause) => reportError(cause));
    else tell(answer);
  });
  app.relay.on(ANSWER, (id, answer) => waitingOf(app).get(id!)?.(answer!));
}
