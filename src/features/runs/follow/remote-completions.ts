/** Events of jobs that run on other servers of the same database, forwarded to those who wait here. */
import { and, eq, inArray } from "drizzle-orm";
import type { Service } from "../../../lib/async/service.ts";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { findEarlyResult } from "../flows/status/early-return.ts";

/**
 * Poll for completions whose message was lost, or not sent because the other server did not know of this one yet. It
 * bounds the wait even if the other server's connection breaks.
 */
const POLL_INTERVAL_MS = 5_000;
/** Jobs read by one query. */
const BATCH_SIZE = 500;

/** Creates the task that forwards completions from other servers. Does nothing where there is only one server. */
export function createRemoteJobEvents(app: App): Service {
  const { events, queue, bus } = app;
  let asked = new Set<string>();
  let looking = false;

  function ended(job_id: string): void {
    // A job held by this process publishes its own completion, with the result that `delete_after_use` keeps from the
    // row.
    if (queue.has(job_id) || !events.isAwaited(job_id)) return;
    asked.add(job_id);
    if (looking) return;
    looking = true;
    // Completions that arrive together are read by one query.
    queueMicrotask(() => {
      look().catch((cause) => {
        app.log.warn({ error: String(cause) }, "completions of jobs on other servers could not be read yet");
      });
    });
  }

  async function look(): Promise<void> {
    try {
      while (asked.size > 0) {
        const ids = [...asked].slice(0, BATCH_SIZE);
        asked = new Set([...asked].slice(BATCH_SIZE));
        const rows = await app.db.read
          .select({ id: jobs.id, workspace_id: jobs.workspace_id, status: jobs.status, result: jobs.result })
          .from(jobs)
          .where(and(inArray(jobs.id, ids), eq(jobs.state, "completed")));
        for (const { status, result, ...job } of rows) {
          events.notifyWaiters({ ...job, status: status ?? "success", result: result ?? "null" });
        }
      }
    } finally {
      looking = false;
    }
  }

  async function early(job_id: string): Promise<void> {
    if (!events.isAwaited(job_id)) return;
    const [job] = await app.db.read.select().from(jobs).where(eq(jobs.id, job_id));
    const result = job && (await findEarlyResult(app, job));
    if (result !== undefined) events.publishEarly({ id: job_id, workspace_id: job!.workspace_id, result });
  }

  const lookAtAll = () => {
    for (const job_id of events.awaitedJobs()) ended(job_id);
  };
  bus.subscribe("ended", ended);
  bus.subscribe("early", (job_id) => {
    early(job_id!).catch((cause) =>
      app.log.warn({ error: String(cause) }, "an early result could not be read"),
    );
  });
  bus.subscribe("said", (job_id) => events.publishChange(job_id!));
  bus.subscribe("queued", () => queue.wakeLocal());
  bus.subscribe("cancel", (job_id) => queue.cancelLocal(job_id!));
  bus.onMissed(() => {
    lookAtAll();
    queue.wakeLocal();
  });
  return createPeriodicTask(app, {
    failure_message: "jobs on other servers could not be polled",
    interval_ms: app.db.channel ? POLL_INTERVAL_MS : Number.POSITIVE_INFINITY,
    run: async () => lookAtAll(),
  });
}
