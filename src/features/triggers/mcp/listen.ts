/** Hears what a running job says, for who called it as a tool: its log as it grows, and how far it says it is. */
import type { App } from "../../../platform/app/context.ts";
import { joinFeed, leaveFeed } from "../../runs/follow/job-feed.ts";
import { withoutHeader } from "../../runs/job/log-header.ts";
import { findJob } from "../../runs/submit/service.ts";

export interface Listener {
  log(text: string): void;
  /** Left out when nobody wants to know: then nothing is asked for. @param percent 0 to 100 */
  progress?(percent: number): void;
}

/** Most characters of log told at once. */
const MOST = 65_536;

/** Listens from now on, until it is stopped, which tells the rest of the log. */
export function listenTo(app: App, workspace_id: string, job_id: string, listener: Listener) {
  let offset = 0;
  let percent: number | null = null;
  let busy = false;
  const follower = { wake, tick };
  const feed = joinFeed(app, job_id, follower);

  function wake(): void {
    for (;;) {
      const text = feed.tail?.log.from(offset, MOST);
      if (!text) return;
      const said = offset === 0 ? withoutHeader(text) : text;
      offset += text.length;
      if (said !== "") listener.log(said);
    }
  }

  /** Nobody tells of progress: it stands in the job's row. */
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
    percent = row.progress;
    listener.progress?.(percent);
  }

  return {
    stop(): void {
      wake();
      leaveFeed(app, feed, follower);
    },
  };
}
