/** Frames that go on at a moment: sleeps, retries, approvals that were not given in time. */
import { and, asc, eq, isNotNull, lte } from "drizzle-orm";
import type { App } from "../../../context.ts";
import { perApp } from "../../../lib/per-app.ts";
import { jobs } from "../../../queue/tables.ts";
import { flowFrames } from "../tables.ts";

/** A timer for a far future would overflow (2^31 ms); it is set again anyway. */
const MAX_TIMER_MS = 3_600_000;
/** Another server may have asked for a moment, and be gone. */
const POSTGRES_POLL_MS = 5_000;
const MAX_WOKEN = 200;

interface Waker {
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Milliseconds since 1970 for which the timer is set. */
  at: number;
  wake: (() => void) | undefined;
}

const wakerOf = perApp<App, Waker>(() => ({
  timer: undefined,
  at: Number.POSITIVE_INFINITY,
  wake: undefined,
}));

/** Makes sure that frames are looked at when this moment comes; does nothing in a process that runs no jobs. */
export function wakeFlowsAt(app: App, moment: Date): void {
  const waker = wakerOf(app);
  if (!waker.wake || moment.getTime() >= waker.at) return;
  clearTimeout(waker.timer);
  waker.at = moment.getTime();
  const inMs = Math.max(0, Math.min(waker.at - app.clock().getTime(), MAX_TIMER_MS));
  waker.timer = setTimeout(waker.wake, inMs);
}

/**
 * Wakes frames when they are due.
 * @param wakeFrame called with each frame that is due and its outermost flow's job
 */
export function startFlowWaker(
  app: App,
  wakeFrame: (root_job: string, frame_id: string) => Promise<void>,
): { stop(): Promise<void> } {
  const waker = wakerOf(app);
  let busy: Promise<void> = Promise.resolve();
  let poll: ReturnType<typeof setInterval> | undefined;

  async function look(): Promise<void> {
    waker.at = Number.POSITIVE_INFINITY;
    const due = await app.db.read
      .select({ root_job: flowFrames.root_job, job_id: flowFrames.job_id })
      .from(flowFrames)
      .innerJoin(jobs, eq(jobs.id, flowFrames.job_id))
      .where(and(lte(flowFrames.wake_at, app.clock()), eq(jobs.state, "running")))
      .orderBy(asc(flowFrames.wake_at))
      .limit(MAX_WOKEN);
    const woken = await Promise.allSettled(due.map(({ root_job, job_id }) => wakeFrame(root_job, job_id)));
    const failed = woken.find(({ status }) => status === "rejected");
    if (failed) throw (failed as PromiseRejectedResult).reason;
    const [next] = await app.db.read
      .select({ wake_at: flowFrames.wake_at })
      .from(flowFrames)
      .innerJoin(jobs, eq(jobs.id, flowFrames.job_id))
      .where(and(isNotNull(flowFrames.wake_at), eq(jobs.state, "running")))
      .orderBy(asc(flowFrames.wake_at))
      .limit(1);
    if (next?.wake_at) wakeFlowsAt(app, next.wake_at);
  }

  waker.wake = () => {
    busy = busy.then(look).catch((cause) => {
      app.log.error({ error: String(cause) }, "flows that are due could not be woken");
      wakeFlowsAt(app, new Date(app.clock().getTime() + 1_000));
    });
  };
  waker.wake();
  if (app.db.dialect === "postgres") poll = setInterval(waker.wake, POSTGRES_POLL_MS);
  return {
    async stop() {
      clearInterval(poll);
      waker.wake = undefined;
      clearTimeout(waker.timer);
      await busy;
    },
  };
}
