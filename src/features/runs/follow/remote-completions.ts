/**
 * Jobs that another server of the same database runs: what it tells is told on to those who wait here.
 */
import { and, eq, inArray } from "drizzle-orm";
import type { Service } from "../../../lib/async/start-stop.ts";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { earlyResult } from "../flows/status/early-return.ts";

/** For ends that nobody told of: who waits is bounded by this, whatever the other server's connection does. */
const LOOK_MS = 5_000;
/** Jobs asked for by one statement. */
const MOST = 500;

/** Tells those who wait here of jobs that ended elsewhere; where there is nobody else, it does nothing. */
export function followOtherServers(app: App): Service {
  const { events, queue, relay } = app;
  let asked = new Set<string>();
  let looking = false;

  function ended(job_id: string): void {
    // The end of a job that this process has is told here, with what the row of one that leaves nothing does not hold.
    if (queue.has(job_id) || !events.isAwaited(job_id)) return;
    asked.add(job_id);
    if (looking) return;
    looking = true;
    // Ends that are told together are looked at together.
    queueMicrotask(() => {
      look().catch((cause) => {
        app.log.warn({ error: String(cause) }, "ends of jobs that ran elsewhere could not be read yet");
      });
    });
  }

  async function look(): Promise<void> {
    try {
      while (asked.size > 0) {
        const ids = [...asked].slice(0, MOST);
        asked = new Set([...asked].slice(MOST));
        const rows = await app.db.read
          .select({ id: jobs.id, workspace_id: jobs.workspace_id, status: jobs.status, result: jobs.result })
          .from(jobs)
          .where(and(inArray(jobs.id, ids), eq(jobs.state, "completed")));
        for (const { status, result, ...job } of rows) {
          events.tellFinished({ ...job, status: status ?? "success", result: result ?? "null" });
        }
      }
    } finally {
      looking = false;
    }
  }

  async function early(job_id: string): Promise<void> {
    if (!events.isAwaited(job_id)) return;
    const [job] = await app.db.read.select().from(jobs).where(eq(jobs.id, job_id));
    const result = job && (await earlyResult(app, job));
    if (result !== undefined) events.publishEarly({ id: job_id, workspace_id: job!.workspace_id, result });
  }

  const lookAtAll = () => {
    for (const job_id of events.awaited()) ended(job_id);
  };
  relay.on("ended", ended);
  relay.on("early", (job_id) => {
    early(job_id!).catch((cause) => app.log.warn({ error: String(cause) }, "a result could not be read"));
  });
  relay.on("said", (job_id) => events.noteChange(job_id!));
  relay.on("queued", () => queue.look());
  relay.on("cancel", (job_id) => queue.cancelHere(job_id!));
  relay.onGap(() => {
    lookAtAll();
    queue.look();
  });
  return createPeriodicTask(app, {
    failure: "jobs that ran elsewhere could not be looked for",
    interval_ms: app.db.channel ? LOOK_MS : Number.POSITIVE_INFINITY,
    run: async () => lookAtAll(),
  });
}
