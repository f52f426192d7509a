/**
 * Questions of one server to all others of its PostgreSQL, for what only one of them has in memory. Whoever knows the
 * answer gives it; nobody answers otherwise.
 */
import type { App } from "../context.ts";
import { newJobId } from "../lib/ids.ts";
import { perApp } from "../lib/per-app.ts";

/** Being told and telling takes milliseconds: who has not answered by then does not know. */
const PATIENCE_MS = 2_000;
const ASK = "ask";
const ANSWER = "answer";

const answerers = new Map<string, (app: App, ...words: string[]) => string | undefined>();
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

/** From now on this server answers, and hears what is answered. */
export function followQuestions(app: App): void {
  app.relay.on(ASK, (id, name, ...words) => {
    const answer = answerers.get(name!)?.(app, ...words);
    if (answer !== undefined) app.relay.tell(ANSWER, id!, answer);
  });
  app.relay.on(ANSWER, (id, answer) => waitingOf(app).get(id!)?.(answer!));
}
