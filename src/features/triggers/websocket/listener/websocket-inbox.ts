/**
 * Turns the messages of one connection into jobs, started in the messages' order. While the maximum number of jobs
 * runs, reading from the network is paused (backpressure).
 */

import { SvcError } from "../../../../lib/errors.ts";
import { parseJson } from "../../../../lib/json/json.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { JobFinished } from "../../../../platform/events/events.ts";
import type { Websocket } from "../../../../platform/outgoing/websocket.ts";
import { type LeasedTrigger, matchesFilters, startJobForMessage } from "../trigger-jobs.ts";

/** Maximum unfinished jobs of one trigger. */
const MAX_RUNNING_JOBS = 10;

/** Formats a result as a message: a text as it is, anything else as JSON. */
export function formatMessage(json: string): string {
  return json.startsWith('"') ? (parseJson(json) as string) : json;
}

export class MessageInbox {
  readonly #app: App;
  readonly #held: LeasedTrigger;
  readonly #url: string;
  readonly #show: (why: string | null) => Promise<void>;
  readonly #waiting: string[] = [];
  #socket: Websocket | undefined;
  #running = 0;
  #starting: Promise<void> | undefined;
  #paused = false;
  #closed = false;

  constructor(app: App, held: LeasedTrigger, url: string, show: (why: string | null) => Promise<void>) {
    this.#app = app;
    this.#held = held;
    this.#url = url;
    this.#show = show;
  }

  open(socket: Websocket): void {
    this.#socket = socket;
    this.#pace();
  }

  /** Messages whose job has not been started are dropped. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#starting;
  }

  take(message: string): void {
    if (this.#closed || !matchesFilters(this.#held.row.filters, message)) return;
    this.#waiting.push(message);
    this.#pace();
    this.#start();
  }

  /** Received messages are kept: a pause only stops further ones. */
  #pace(): void {
    const full = this.#running + this.#waiting.length >= MAX_RUNNING_JOBS;
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
    return !this.#closed && this.#waiting.length > 0 && this.#running < MAX_RUNNING_JOBS;
  }

  /** Started one after the other, so that jobs begin in the order of their messages. */
  async #startAll(): Promise<void> {
    while (this.#mayStart()) {
      this.#running++;
      await this.#one(this.#waiting.shift()!);
    }
  }

  async #one(message: string): Promise<void> {
    try {
      const started = await startJobForMessage(this.#app, this.#held, message, this.#url);
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
    this.#app.log.warn(fields, "a WebSocket message could not start its job");
    await this.#show(why);
  }

  #answer({ status, result }: JobFinished): void {
    const { can_return_message, can_return_error_result } = this.#held.row;
    if (!can_return_message || result === "null") return;
    const failed = status === "failure" || status === "canceled";
    if (failed && !can_return_error_result) return;
    this.#socket?.send(formatMessage(result));
  }
}
