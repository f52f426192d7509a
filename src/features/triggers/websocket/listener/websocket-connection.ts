/** The connection of one trigger: reconnects with exponential backoff when it ends. */

import { type Backoff, computeBackoffMs } from "../../../../lib/async/retry.ts";
import { raceAbort, sleep } from "../../../../lib/async/sleep.ts";
import { SvcError } from "../../../../lib/errors.ts";
import { parseJson } from "../../../../lib/json/json.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { JobFinished } from "../../../../platform/events/events.ts";
import { OutgoingError } from "../../../../platform/outgoing/connect.ts";
import { getConfiguredTargets } from "../../../../platform/outgoing/targets.ts";
import { openWebsocket, type Websocket } from "../../../../platform/outgoing/websocket.ts";
import { parseRunnableUrl, parseWebsocketUrl } from "../service.ts";
import { websocketTriggers } from "../tables.ts";
import {
  createLeaseCondition,
  type LeasedTrigger,
  readCurrentRow,
  requireOwner,
  type StartedJob,
  startJobForResult,
} from "../trigger-jobs.ts";
import { formatMessage, MessageInbox } from "./websocket-inbox.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const PING_INTERVAL_MS = 20_000;
/** A connection that lasted this long resets the backoff. */
const STABLE_AFTER_MS = 30_000;
/** With jitter, so that the triggers of a server do not reconnect at once. */
const BACKOFF: Backoff = { first_ms: 1_000, max_ms: 60_000, jitter: 0.5 };

/** Ends the connection for good. */
type CloseConnection = () => Promise<void>;

/** Connects, and reconnects until closed. */
export function startConnection(app: App, held: LeasedTrigger): CloseConnection {
  let socket: Websocket | undefined;
  let inbox: MessageInbox | undefined;
  let closed = false;
  let shown = held.row.error;
  const leaving = new AbortController();

  async function keep(): Promise<void> {
    for (let failures = 0; !closed; ) {
      const began = performance.now();
      // The run that returns the URL may take long: closing does not wait for it.
      const why = await raceAbort(once(), leaving.signal);
      if (why === undefined || closed) return;
      failures = performance.now() - began > STABLE_AFTER_MS ? 1 : failures + 1;
      await show(why);
      await sleep(computeBackoffMs(BACKOFF, failures), leaving.signal);
    }
  }

  /** Connects once, and handles messages until the connection ends. @returns why the connection ended */
  async function once(): Promise<string> {
    try {
      await requireOwner(app, held);
      const url = await urlOf();
      const messages = new MessageInbox(app, held, url, show);
      inbox = messages;
      socket = await openWebsocket({
        url,
        targets: getConfiguredTargets(app),
        timeout_ms: CONNECT_TIMEOUT_MS,
        max_message_bytes: app.settings.get("request_size_limit_mb") * 1_000_000,
        ping_ms: PING_INTERVAL_MS,
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
    const target = parseRunnableUrl(url);
    if (!target) return url;
    const { url_runnable_args } = await readCurrentRow(app, held);
    const result = requireResult(
      await startJobForResult(app, held, target, url_runnable_args ?? {}).then(awaitStarted),
    );
    if (typeof result !== "string")
      throw new OutgoingError(`${url} must return an address, but returned ${typeof result}`);
    return parseWebsocketUrl(result);
  }

  async function greet(to: Websocket): Promise<void> {
    if (held.row.initial_messages.length === 0) return;
    for (const message of (await readCurrentRow(app, held)).initial_messages) {
      if ("raw_message" in message) {
        to.send(message.raw_message);
        continue;
      }
      const { path, is_flow, args } = message.runnable_result;
      const end = await startJobForResult(app, held, is_flow ? { flow: path } : { path }, args).then(
        awaitStarted,
      );
      to.send(formatMessage(JSON.stringify(requireResult(end))));
    }
  }

  /** Stores the trigger's current error, or clears it. */
  async function show(error: string | null): Promise<void> {
    if (error === shown || closed) return;
    shown = error;
    await app.db
      .write((tx) => tx.update(websocketTriggers).set({ error }).where(createLeaseCondition(held)))
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

/**
 * Awaits a started job. None is started if the trigger belongs to another server now: this connection is about to
 * close.
 */
async function awaitStarted(started: StartedJob | undefined): Promise<JobFinished> {
  if (!started) throw new OutgoingError("the trigger was changed meanwhile");
  return started.ended;
}

/** Returns the result of a run that computes a URL or a message. @throws OutgoingError if the run failed */
function requireResult({ status, result, id }: JobFinished): unknown {
  if (status === "success" || status === "skipped") return parseJson(result);
  throw new OutgoingError(`job ${id}, which computes the URL or the messages, failed`);
}
