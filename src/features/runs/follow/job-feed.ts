/**
 * All who follow one job here share one feed: one subscription, one query for the job's row at its end, and an event
 * that is the same for many is written once. One timer serves all feeds.
 */

import { perApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import type { JobFinished } from "../../../platform/events/events.ts";
import type { JobTail } from "../../../platform/events/tail.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { findJob } from "../submit/service.ts";

/** How exactly pings, looks and ends of streams are timed. */
const TICK_MS = 500;

export interface Follower {
  /** There may be something new. */
  wake(): void;
  /** @param now milliseconds since 1970 */
  tick(now: number): void;
}

interface Feeds {
  byJob: Map<string, JobFeed>;
  timer: ReturnType<typeof setInterval> | undefined;
}

const feedsOf = perApp<App, Feeds>(() => ({ byJob: new Map(), timer: undefined }));
const encoder = new TextEncoder();

/** Listens from now on: what happens after this call is not missed. */
export function joinFeed(app: App, job_id: string, follower: Follower): JobFeed {
  const feeds = feedsOf(app);
  let feed = feeds.byJob.get(job_id);
  if (!feed) {
    feed = new JobFeed(app, job_id);
    feeds.byJob.set(job_id, feed);
  }
  feed.followers.add(follower);
  if (!feeds.timer) {
    feeds.timer = setInterval(tick, TICK_MS, app, feeds);
    feeds.timer.unref();
  }
  return feed;
}

export function leaveFeed(app: App, feed: JobFeed, follower: Follower): void {
  const feeds = feedsOf(app);
  if (!feed.followers.delete(follower) || feed.followers.size > 0) return;
  feed.stop();
  feeds.byJob.delete(feed.job_id);
  if (feeds.byJob.size > 0) return;
  clearInterval(feeds.timer);
  feeds.timer = undefined;
}

/** Streams that follow a job now. */
export function openStreams(app: App): number {
  let open = 0;
  for (const feed of feedsOf(app).byJob.values()) open += feed.followers.size;
  return open;
}

function tick(app: App, feeds: Feeds): void {
  const now = app.clock().getTime();
  for (const feed of feeds.byJob.values()) feed.tick(now);
}

export class JobFeed {
  readonly job_id: string;
  readonly followers = new Set<Follower>();
  /** How the job ended. This and the tail are let go a moment later: who is late reads the database. */
  end: JobFinished | undefined;
  ended = false;
  readonly #app: App;
  readonly #stops: (() => void)[];
  #tail: JobTail | undefined;
  #row: Promise<Job | undefined> | undefined;
  #shared: { key: string; bytes: Uint8Array } | undefined;
  #ticksSinceEnd = 0;

  constructor(app: App, job_id: string) {
    this.#app = app;
    this.job_id = job_id;
    this.#stops = [
      app.events.onChange(job_id, () => this.#changed()),
      app.events.onFinished(job_id, (end) => this.#finished(end)),
    ];
  }

  /** The live log and stream; undefined while the job does not run here. */
  get tail(): JobTail | undefined {
    if (!this.ended) this.#tail ??= this.#app.events.tail(this.job_id);
    return this.#tail;
  }

  #changed(): void {
    if (this.ended) return;
    this.#tail = this.#app.events.tail(this.job_id);
    for (const follower of this.followers) follower.wake();
  }

  #finished(end: JobFinished): void {
    this.ended = true;
    this.end = end;
    for (const follower of this.followers) follower.wake();
  }

  tick(now: number): void {
    if (this.ended && ++this.#ticksSinceEnd > 1) {
      this.#tail = undefined;
      this.end = undefined;
      this.#row = undefined;
      this.#shared = undefined;
    }
    for (const follower of this.followers) follower.tick(now);
  }

  /** The row of the ended job. */
  row(workspace_id: string): Promise<Job | undefined> {
    this.#row ??= findJob(this.#app, workspace_id, this.job_id);
    return this.#row;
  }

  /** The bytes of an event. Followers that are told the same, which is what they give the same key, share them. */
  bytes(keyOf: () => string, write: () => string): Uint8Array {
    if (this.followers.size === 1) return encoder.encode(write());
    const key = keyOf();
    if (this.#shared?.key !== key) this.#shared = { key, bytes: encoder.encode(write()) };
    return this.#shared.bytes;
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }
}
