/** Follows a running job on behalf of a tool's caller: its growing log, and its progress. */
import type { App } from "../../../platform/app/context.ts";
import { subscribeToFeed, unsubscribeFromFeed } from "../../runs/follow/job-feed.ts";
import { stripLogHeader } from "../../runs/job/log-header.ts";
import { findJob } from "../../runs/submit/find-and-cancel.ts";

export interface JobListener {
  log(text: string): void;
  /** Undefined if the client wants no progress; then it is not read. @param percent 0 to 100 */
  progress?(percent: number): void;
}

/** Maximum characters of log in one message. */
const MAX_LOG_CHARS = 65_536;

/** Listens from now on. */
export function listenToJob(app: App, workspace_id: string, job_id: string, listener: JobListener) {
  let offset = 0;
  let percent: number | null = null;
  let busy = false;
  /** Whether the job is on disk; before, nothing is told of it. */
  let isStored = false;
  let isStopped = false;
  // Its caller is answered when the server stops: see submit/wait.ts.
  const follower = { wake, tick, end: () => {} };
  const feed = subscribeToFeed(app, job_id, follower);

  function wake(): void {
    if (!feed.tail) return;
    const storing = isStored ? undefined : app.db.readBarrier();
    if (storing) {
      storing.then(
        () => {
          isStored = true;
          if (!isStopped) wake();
        },
        () => {},
      );
      return;
    }
    isStored = true;
    for (;;) {
      const text = feed.tail?.log.textFrom(offset, MAX_LOG_CHARS);
      if (!text) return;
      const said = offset === 0 ? stripLogHeader(text) : text;
      offset += text.length;
      if (said !== "") listener.log(said);
    }
  }

  /** Progress causes no event: it is read from the job's row. */
  function tick(): void {
    if (!listener.progress || busy) return;
    busy = true;
    look()
      .catch((error) => app.log.warn({ job: job_id, error: String(error) }, "progress could not be read"))
      .finally(() => {
        busy = false;
      });
  }

  async function look(): Promise<void> {
    const row = await findJob(app, workspace_id, job_id);
    if (row?.progress == null || row.progress === percent) return;
    await app.db.readBarrier();
    percent = row.progress;
    listener.progress?.(percent);
  }

  return {
    /** Ends it, and sends the rest of the log. @param hasEnded whether the job has ended, and so is on disk */
    stop(hasEnded: boolean): void {
      isStored ||= hasEnded;
      if (isStored) wake();
      isStopped = true;
      unsubscribeFromFeed(app, feed, follower);
    },
  };
}
