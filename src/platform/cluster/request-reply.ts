/**
 * Request/reply between the servers of one PostgreSQL database. A query is answered by the one server that holds the
 * state in memory; the others stay silent. A barrier is acknowledged by every server.
 */

import { memoizePerApp } from "../../lib/async/per-app.ts";
import { withTimeout } from "../../lib/async/sleep.ts";
import { createUuid } from "../../lib/text/ids.ts";
import type { App } from "../app/context.ts";

/** Round trips take milliseconds; after this, no server is assumed to know the answer. */
const REPLY_TIMEOUT_MS = 2_000;
/** Interval at which an unacknowledged barrier message is sent again: a server that was cut off may have missed it. */
const RESEND_INTERVAL_MS = 1_000;
const REQUEST_TOPIC = "ask";
const REPLY_TOPIC = "answer";

type Reply = string | undefined;
const replyHandlers = new Map<string, (app: App, ...words: string[]) => Reply | Promise<Reply>>();
/** Callbacks of pending requests, by request id. */
const pendingRequestsOf = memoizePerApp<App, Map<string, (answer: string) => void>>(() => new Map());

/**
 * Defines a query to the other servers.
 * @param know called on every other server; returns undefined if that server does not know the answer
 * @returns a function that resolves with the first answer, or with undefined after 2 s without one (at once if there
 * is no other server). Arguments and answers are visible to other database clients: encrypt secrets, and keep them
 * below 7,000 bytes
 */
export function defineQuery<W extends string[]>(
  name: string,
  know: (app: App, ...words: W) => string | undefined,
): (app: App, ...words: W) => Promise<string | undefined> {
  replyHandlers.set(name, know as (app: App, ...words: string[]) => string | undefined);
  return async (app, ...words) => {
    if (!app.db.channel) return undefined;
    const waiting = pendingRequestsOf(app);
    const id = createUuid();
    const answered = Promise.withResolvers<string | undefined>();
    const timer = setTimeout(answered.resolve, REPLY_TIMEOUT_MS, undefined);
    waiting.set(id, answered.resolve);
    app.bus.publish(REQUEST_TOPIC, id, name, ...words);
    try {
      return await answered.promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(id);
    }
  };
}

/**
 * Defines a cluster barrier.
 * @param apply called on every other server; once it resolves, that server acts on the message. May be called more than
 * once
 * @returns a function that resolves once every server listed by `whom` has acknowledged, or after `most_ms`, since a
 * live server may be cut off
 */
export function defineBarrier<W extends string[]>(
  name: string,
  apply: (app: App, ...words: W) => Promise<void>,
): (app: App, whom: () => Promise<readonly string[]>, most_ms: number, ...words: W) => Promise<void> {
  const heeding = async (app: App, ...words: string[]) => {
    await apply(app, ...(words as W));
    return app.queue.worker;
  };
  replyHandlers.set(name, heeding);
  return async (app, whom, most_ms, ...words) => {
    const end = performance.now() + most_ms;
    const waiting = pendingRequestsOf(app);
    const id = createUuid();
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
        if (performance.now() - told >= RESEND_INTERVAL_MS) {
          told = performance.now();
          app.bus.publish(REQUEST_TOPIC, id, name, ...words);
        }
        await withTimeout(RESEND_INTERVAL_MS, heard.promise, () => new Error("no answer")).catch(() => {});
      }
    } finally {
      waiting.delete(id);
    }
  };
}

/** Starts answering requests of other servers and receiving their replies. */
export function serveQueries(app: App): void {
  app.bus.subscribe(REQUEST_TOPIC, (id, name, ...words) => {
    const tell = (answer: Reply) => answer !== undefined && app.bus.publish(REPLY_TOPIC, id!, answer);
    const answer = replyHandlers.get(name!)?.(app, ...words);
    if (answer instanceof Promise) answer.then(tell, (cause) => reportError(cause));
    else tell(answer);
  });
  app.bus.subscribe(REPLY_TOPIC, (id, answer) => pendingRequestsOf(app).get(id!)?.(answer!));
}
