/**
 * A feed shared by all followers of one job in this process: one subscription and one query for the completed row.
 * Events that are equal for several followers are encoded once. One timer serves all feeds.
 *
 * From script to reader: engines/runner/job-run.ts receives the output, worker/job-output.ts stores it in pieces,
 * platform/events/job-tail.ts keeps the newest part in memory, this file serves all followers of a job, and
 * `update-stream.ts` serves one of them.
 */

import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import type { JobFinished } from "../../../platform/events/events.ts";
import type { JobTail } from "../../../platform/events/job-tail.ts";
import { createPeriodicTask, type PeriodicTask } from "../../../platform/loops/periodic-task.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { findJob } from "../submit/find-and-cancel.ts";

/** Resolution of pings, reads and stream ends. */
const TICK_INTERVAL_MS = 500;

export interface FeedFollower {
  /** Called when there may be new data. */
  wake(): void;
  /** Called periodically. @param now milliseconds since 1970 */
  tick(now: number): void;
  /** Called when the server stops: known data is sent, and the stream ends. */
  end(): void;
}

interface FeedRegistry {
  byJob: Map<string, JobFeed>;
  /** The timer runs as long as there are feeds. */
  ticking: PeriodicTask;
  /** Whether the server is stopping: streams end after sending known data. */
  isEnding: boolean;
}

const feedsOf = memoizePerApp((app: App): FeedRegistry => {
  const byJob = new Map<string, JobFeed>();
  const ticking = createPeriodicTask(app, {
    failure_message: "streams of updates could not be continued",
    first_delay_ms: TICK_INTERVAL_MS,
    interval_ms: TICK_INTERVAL_MS,
    async run(now) {
      if (byJob.size === 0) void ticking.stop();
      for (const feed of byJob.values()) feed.tick(now.getTime());
    },
  });
  return { byJob, ticking, isEnding: false };
});
const encoder = new TextEncoder();

/** Adds a follower. Events after this call are not missed. */
export function subscribeToFeed(app: App, job_id: string, follower: FeedFollower): JobFeed {
  const feeds = feedsOf(app);
  let feed = feeds.byJob.get(job_id);
  if (!feed) {
    feed = new JobFeed(app, job_id);
    feeds.byJob.set(job_id, feed);
  }
  feed.followers.add(follower);
  if (feeds.isEnding) follower.end();
  void feeds.ticking.start();
  return feed;
}

export function unsubscribeFromFeed(app: App, feed: JobFeed, follower: FeedFollower): void {
  const feeds = feedsOf(app);
  if (!feed.followers.delete(follower) || feed.followers.size > 0) return;
  feed.stop();
  feeds.byJob.delete(feed.job_id);
}

/** Returns the number of streams that follow a job. */
export function countOpenStreams(app: App): number {
  let open = 0;
  for (const feed of feedsOf(app).byJob.values()) open += feed.followers.size;
  return open;
}

/**
 * Ends all current and later streams, so that their readers reconnect to another server and continue at their
 * offsets.
 */
export function endAllStreams(app: App): void {
  const feeds = feedsOf(app);
  feeds.isEnding = true;
  for (const feed of feeds.byJob.values()) for (const follower of [...feed.followers]) follower.end();
}

export class JobFeed {
  readonly job_id: string;
  readonly followers = new Set<FeedFollower>();
  /** The job's outcome. It and the tail are released a moment after completion; later followers read the database. */
  outcome: JobFinished | undefined;
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

  /** The live log and stream; undefined if the job does not run here. */
  get tail(): JobTail | undefined {
    if (!this.ended) this.#tail ??= this.#app.events.findTail(this.job_id);
    return this.#tail;
  }

  #changed(): void {
    if (this.ended) return;
    this.#tail = this.#app.events.findTail(this.job_id);
    for (const follower of this.followers) follower.wake();
  }

  #finished(end: JobFinished): void {
    this.ended = true;
    this.outcome = end;
    for (const follower of this.followers) follower.wake();
  }

  tick(now: number): void {
    if (this.ended && ++this.#ticksSinceEnd > 1) {
      this.#tail = undefined;
      this.outcome = undefined;
      this.#row = undefined;
      this.#shared = undefined;
    }
    for (const follower of this.followers) follower.tick(now);
  }

  /** Reads the row of the completed job. */
  row(workspace_id: string): Promise<Job | undefined> {
    this.#row ??= findJob(this.#app, workspace_id, this.job_id);
    return this.#row;
  }

  /** Encodes an event. Followers with the same key share the bytes. */
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
