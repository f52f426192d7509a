/**
 * One trigger's connection: opened, listened to, and opened again when it ends, after longer and longer pauses.
 */

import { type Backoff, backoffMs } from "../../../../lib/async/retry.ts";
import { sleep, untilAborted } from "../../../../lib/async/sleep.ts";
import { SvcError } from "../../../../lib/errors.ts";
import { parseJson } from "../../../../lib/json/json.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { JobFinished } from "../../../../platform/events/events.ts";
import { OutgoingError } from "../../../../platform/outgoing/connect.ts";
import { allowedTargets } from "../../../../platform/outgoing/targets.ts";
import { openWebsocket, type Websocket } from "../../../../platform/outgoing/websocket.ts";
import { checkOwner, type Held, isHeld, rowNow, type Started, startForResult } from "../messages.ts";
import { checkUrl, runnableOf } from "../service.ts";
import { websocketTriggers } from "../tables.ts";
import { asMessage, Inbox } from "./websocket-inbox.ts";

const CONNECT_MS = 10_000;
const PING_MS = 20_000;
/** A connection that lasted this long was a good one: the next pause is a short one again. */
const GOOD_MS = 30_000;
/** Before the next try; spread so that many triggers of one server do not come back at once. */
const BACKOFF: Backoff = { first_ms: 1_000, max_ms: 60_000, jitter: 0.5 };

/** Ends the connection for good. */
type Close = () => Promise<void>;

/** Connects, and stays connected until told otherwise. */
export function keepConnected(app: App, held: Held): Close {
  let socket: Websocket | undefined;
  let inbox: Inbox | undefined;
  let closed = false;
  let shown = held.row.error;
  const leaving = new AbortController();

  async function keep(): Promise<void> {
    for (let failures = 0; !closed; ) {
      const began = performance.now();
      // A run that says where to connect may last: nobody waits for it in order to leave.
      const why = await untilAborted(once(), leaving.signal);
      if (why === undefined || closed) return;
      failures = performance.now() - began > GOOD_MS ? 1 : failures + 1;
      await show(why);
      await sleep(backoffMs(BACKOFF, failures), leaving.signal);
    }
  }

  /** @returns why it is over */
  async function once(): Promise<string> {
    try {
      await checkOwner(app, held);
      const url = await urlOf();
      const messages = new Inbox(app, held, url, show);
      inbox = messages;
      socket = await openWebsocket({
        url,
        targets: allowedTargets(app),
        timeout_ms: CONNECT_MS,
        max_message_bytes: app.settings.get("request_size_limit_mb") * 1_000_000,
        ping_ms: PING_MS,
        onMessage: (text) => messages.take(text),
      });
      if (closed) socket.close();
      messages.open(socket);
      await show(null);
      await greet(socket);
      return await socket.ended;
    } catch (cause) {
      socket?.close();
      if (cause instanceof OutgoingError || cause instanceof SvcError) return cause.message;
      app.log.error({ error: String(cause), trigger: held.row.path }, "a WebSocket trigger was interrupted");
      return "the server failed; its log says more";
    } finally {
      socket = undefined;
    }
  }

  async function urlOf(): Promise<string> {
    const { url } = held.row;
    const target = runnableOf(url);
    if (!target) return url;
    const { url_runnable_args } = await rowNow(app, held);
    const result = resultOf(await startForResult(app, held, target, url_runnable_args ?? {}).then(endOf));
    if (typeof result !== "string")
      throw new OutgoingError(`${url} returned no address, but ${typeof result}`);
    return checkUrl(result);
  }

  async function greet(to: Websocket): Promise<void> {
    if (held.row.initial_messages.length === 0) return;
    for (const message of (await rowNow(app, held)).initial_messages) {
      if ("raw_message" in message) {
        to.send(message.raw_message);
        continue;
      }
      const { path, is_flow, args } = message.runnable_result;
      const end = await startForResult(app, held, is_flow ? { flow: path } : { path }, args).then(endOf);
      to.send(asMessage(JSON.stringify(resultOf(end))));
    }
  }

  /** Says on the row what is wrong, or that nothing is. */
  async function show(error: string | null): Promise<void> {
    if (error === shown || closed) return;
    shown = error;
    await app.db
      .write((tx) => tx.update(websocketTriggers).set({ error }).where(isHeld(held)))
      .catch((cause) =>
        app.log.error({ error: String(cause) }, "a WebSocket trigger's state was not stored"),
      );
  }

  const running = keep();
  return async () => {
    closed = true;
    leaving.abort();
    socket?.close();
    await running;
    await inbox?.close();
  };
}

/** No job began: the trigger is somebody else's now, and this connection is about to be ended. */
async function endOf(started: Started | undefined): Promise<JobFinished> {
  if (!started) throw new OutgoingError("the trigger was changed meanwhile");
  return started.ended;
}

/** @throws OutgoingError when the run failed */
function resultOf({ status, result, id }: JobFinished): unknown {
  if (status === "success" || status === "skipped") return parseJson(result);
  throw new OutgoingError(`job ${id}, which says what to do, failed`);
}
