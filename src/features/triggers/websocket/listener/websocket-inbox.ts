/**
 * Messages of one connection on their way to jobs: these start in the messages' order, and while as many run as may,
 * nothing more is taken from the network.
 */

import { SvcError } from "../../../../lib/errors.ts";
import { parseJson } from "../../../../lib/json/json.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { JobFinished } from "../../../../platform/events/events.ts";
import type { Websocket } from "../../../../platform/outgoing/websocket.ts";
import { type Held, passes, startForMessage } from "../messages.ts";

/** Jobs of one trigger that have not ended. */
const MOST_RUNNING = 10;

/** Text is sent as it is, anything else as JSON. */
export function asMessage(json: string): string {
  return json.startsWith('"') ? (parseJson(json) as string) : json;
}

export class Inbox {
  readonly #app: App;
  readonly #held: Held;
  readonly #url: string;
  readonly #show: (why: string | null) => Promise<void>;
  readonly #waiting: string[] = [];
  #socket: Websocket | undefined;
  #running = 0;
  #starting: Promise<void> | undefined;
  #paused = false;
  #closed = false;

  constructor(app: App, held: Held, url: string, show: (why: string | null) => Promise<void>) {
    this.#app = app;
    this.#held = held;
    this.#url = url;
    this.#show = show;
  }

  open(socket: Websocket): void {
    this.#socket = socket;
    this.#pace();
  }

  /** What has not begun yet does not begin any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#starting;
  }

  take(message: string): void {
    if (this.#closed || !passes(this.#held.row.filters, message)) return;
    this.#waiting.push(message);
    this.#pace();
    this.#start();
  }

  /** What has come already is not lost: a pause only keeps more from coming. */
  #pace(): void {
    const full = this.#running + this.#waiting.length >= MOST_RUNNING;
    if (full === this.#paused || !this.#socket) return;
    this.#paused = full;
    if (full) this.#socket.pause();
    else this.#socket.resume();
  }

  #start(): void {
    this.#starting ??= this.#startAll().finally(() => {
      this.#starting = undefined;
      this.#pace();
      if (this.#mayStart()) this.#start();
    });
  }

  #mayStart(): boolean {
    return !this.#closed && this.#waiting.length > 0 && this.#running < MOST_RUNNING;
  }

  /** One after the other, so that jobs begin in the order of their messages. */
  async #startAll(): Promise<void> {
    while (this.#mayStart()) {
      this.#running++;
      await this.#one(this.#waiting.shift()!);
    }
  }

  async #one(message: string): Promise<void> {
    try {
      const started = await startForMessage(this.#app, this.#held, message, this.#url);
      if (!started) return this.#done();
      await this.#show(null);
      void started.ended.then((end) => {
        this.#answer(end);
        this.#done();
      });
    } catch (cause) {
      await this.#failed(cause);
      this.#done();
    }
  }

  #done(): void {
    this.#running--;
    this.#pace();
    this.#start();
  }

  async #failed(cause: unknown): Promise<void> {
    const { path, workspace_id } = this.#held.row;
    const why = cause instanceof SvcError ? cause.message : "the server failed; its log says more";
    const fields = { workspace: workspace_id, trigger: path, error: String(cause) };
    this.#app.log.warn(fields, "a WebSocket message could not start what it should");
    await this.#show(why);
  }

  #answer({ status, result }: JobFinished): void {
    const { can_return_message, can_return_error_result } = this.#held.row;
    if (!can_return_message || result === "null") return;
    const failed = status === "failure" || status === "canceled";
    if (failed && !can_return_error_result) return;
    this.#socket?.send(asMessage(result));
  }
}
