/**
 * Wakes frames at their wake time (plan/wake-times.ts). Real times and immediate turns have separate queues, so that
 * neither delays the other. Due frames of one run are woken together, because its transitions are serialized anyway.
 */
import { and, asc, eq, gt, gte, lt, lte } from "drizzle-orm";
import { isTransient } from "../../../../database/failure.ts";
import { type Backoff, computeBackoffMs } from "../../../../lib/async/retry.ts";
import { createService, createServiceGroup, type Service } from "../../../../lib/async/service.ts";
import { sleep } from "../../../../lib/async/sleep.ts";
import type { App } from "../../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../../platform/loops/periodic-task.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { stopFramesBelow, stopOrphans } from "../plan/stop-frames.ts";
import { CLEANUP_TIME, EARLIEST_WAKE_TIME, getWakeUpTimer, wakeFlowsAt } from "../plan/wake-times.ts";
import type { WakeResult } from "./wake-run.ts";

/** Maximum attempts to plan a frame's next transition, before the frame fails. */
const MAX_ATTEMPTS = 5;
const BACKOFF: Backoff = { first_ms: 500, max_ms: 5_000 };
/** Maximum frames of a run woken together. */
const FRAMES_PER_TRANSITION = 500;
/** Wait before a frame that could neither be woken nor failed is tried again. */
const RETRY_INTERVAL_MS = 60_000;
/** Completed frames, and orphans, whose jobs are stopped in one transaction. */
const STOP_BATCH_SIZE = 100;

interface DueFrame {
  root_job: string;
  job_id: string;
}

interface DueQueue {
  condition: (now: Date) => ReturnType<typeof and>;
  /** Maximum frames in progress. */
  most: number;
  busy: Set<string>;
  /** Frames in `busy` that are not being woken yet, by run. */
  waiting: Map<string, string[]>;
  /** There may be more due frames than were read. */
  more: boolean;
}

/** Handlers of due frames: see wake-run.ts and fail-run.ts. */
export interface FrameHandlers {
  /** Wakes frames of one run, or some of them. */
  wake(root_job: string, frame_ids: readonly string[]): Promise<WakeResult>;
  /** Fails a frame that cannot be woken. */
  fail(root_job: string, frame_id: string, cause: unknown): Promise<void>;
}

/** Creates the task that wakes due frames and stops what is below completed ones. */
export function createWakeUpTimers(app: App, { wake, fail }: FrameHandlers): Service {
  const { wake_at } = flowFrames;
  const lanes: DueQueue[] = [
    {
      condition: (now) => and(gte(wake_at, EARLIEST_WAKE_TIME), lte(wake_at, now)),
      most: 4_000,
      busy: new Set(),
      waiting: new Map(),
      more: false,
    },
    {
      condition: () => and(gt(wake_at, CLEANUP_TIME), lt(wake_at, EARLIEST_WAKE_TIME)),
      most: 2_000,
      busy: new Set(),
      waiting: new Map(),
      more: false,
    },
  ];
  const orphans = new Set<string>();
  const underWay = new Set<Promise<void>>();
  /** Aborted at shutdown. */
  let stopping = new AbortController().signal;

  /** A completed frame has no wake time or CLEANUP_TIME, so no join with jobs is needed. */
  function due(condition: ReturnType<typeof and>, limit: number): Promise<DueFrame[]> {
    return app.db.read
      .select({ root_job: flowFrames.root_job, job_id: flowFrames.job_id })
      .from(flowFrames)
      .where(condition)
      .orderBy(asc(wake_at))
      .limit(limit);
  }

  async function fill(lane: DueQueue, now: Date): Promise<void> {
    lane.more = lane.busy.size > lane.most / 2;
    if (lane.more) return;
    const found = await due(lane.condition(now), lane.most);
    lane.more = found.length === lane.most;
    for (const { root_job, job_id } of found) {
      // A frame that is due again while it is being woken is read again afterwards.
      if (lane.busy.has(job_id)) lane.more = true;
      if (lane.busy.has(job_id) || orphans.has(job_id)) continue;
      lane.busy.add(job_id);
      const waiting = lane.waiting.get(root_job);
      if (waiting) waiting.push(job_id);
      else {
        lane.waiting.set(root_job, [job_id]);
        follow(attendTo(lane, root_job));
      }
    }
  }

  function follow(work: Promise<void>): void {
    underWay.add(work);
    work.finally(() => underWay.delete(work));
  }

  /** Wakes the due frames of one run, including those that become due meanwhile. */
  async function attendTo(lane: DueQueue, root_job: string): Promise<void> {
    const waiting = lane.waiting.get(root_job)!;
    for (let outages = 0; waiting.length > 0 && !stopping.aborted; ) {
      const some = waiting.splice(0, FRAMES_PER_TRANSITION);
      try {
        const { orphans: lost, left } = await wake(root_job, some);
        for (const id of lost) orphans.add(id);
        waiting.unshift(...left);
        const isLeft = new Set(left);
        attended(lane, isLeft.size === 0 ? some : some.filter((id) => !isLeft.has(id)));
        outages = 0;
      } catch (cause) {
        if (isTransient(cause)) {
          waiting.unshift(...some);
          await rest(cause, ++outages);
          continue;
        }
        // Frames are tried one by one, so that one that cannot be planned does not block the others.
        for (const id of some) follow(attendAlone({ root_job, job_id: id }).then(() => attended(lane, [id])));
      }
    }
    lane.waiting.delete(root_job);
  }

  function attended(lane: DueQueue, ids: readonly string[]): void {
    for (const id of ids) lane.busy.delete(id);
    if ((lane.more && lane.busy.size <= lane.most / 2) || orphans.size > 0) task.wake();
  }

  async function attendAlone({ root_job, job_id }: DueFrame): Promise<void> {
    for (let tries = 1, outages = 0; !stopping.aborted; ) {
      try {
        const { orphans: lost, left } = await wake(root_job, [job_id]);
        for (const id of lost) orphans.add(id);
        if (left.length === 0) return;
      } catch (cause) {
        if (isTransient(cause)) {
          await rest(cause, ++outages);
          continue;
        }
        const about = { root_job, job: job_id, tries, error: String(cause), stack: (cause as Error)?.stack };
        app.log.error(about, "the next transition of a flow could not be planned");
        if (tries >= MAX_ATTEMPTS) return abandon({ root_job, job_id }, cause);
        await sleep(computeBackoffMs(BACKOFF, tries++), stopping);
      }
    }
  }

  /** Waits after a transient error: no frame fails because of one. */
  function rest(cause: unknown, times: number): Promise<void> {
    const again_in_ms = Math.round(computeBackoffMs(BACKOFF, times));
    app.log.error({ error: String(cause), again_in_ms }, "due flow frames are delayed");
    return sleep(again_in_ms, stopping);
  }

  async function abandon({ root_job, job_id }: DueFrame, cause: unknown): Promise<void> {
    try {
      await fail(root_job, job_id, cause);
    } catch (error) {
      app.log.error(
        { root_job, job: job_id, error: String(error) },
        "a flow that cannot continue could not be failed",
      );
      wakeFlowsAt(app, new Date(app.clock().getTime() + RETRY_INTERVAL_MS));
    }
  }

  /** Stops one batch of jobs below completed frames. @returns whether there may be more */
  async function stopSome(): Promise<boolean> {
    const lost = [...orphans].slice(0, STOP_BATCH_SIZE);
    if (lost.length > 0) await app.db.write((tx) => stopOrphans(app, tx, lost));
    for (const id of lost) orphans.delete(id);
    const ended = await due(eq(wake_at, CLEANUP_TIME), STOP_BATCH_SIZE);
    const ids = ended.map(({ job_id }) => job_id);
    if (ids.length > 0) await app.db.write((tx) => stopFramesBelow(app, tx, ids));
    return ids.length > 0 || orphans.size > 0;
  }

  /** Wakes what is due. @returns when the next frame is due */
  async function run(now: Date): Promise<Date | undefined> {
    for (const lane of lanes) await fill(lane, now);
    if (await stopSome()) return now;
    // `now` is from before the reads above, so frames that became due meanwhile are found here.
    const [next] = await app.db.read
      .select({ wake_at })
      .from(flowFrames)
      .where(gt(wake_at, now))
      .orderBy(asc(wake_at))
      .limit(1);
    return next?.wake_at ?? undefined;
  }

  const task = createPeriodicTask(app, { failure_message: "due flow frames could not be read", run });
  const frames = createService((signal) => {
    stopping = signal;
    getWakeUpTimer(app).wakeAt = task.wakeAt;
    return async () => {
      getWakeUpTimer(app).wakeAt = undefined;
      await Promise.all(underWay);
    };
  });
  // Stopped in reverse order: first no new work is started, then the work in progress is awaited.
  return createServiceGroup(app.log, [
    ["frames", frames],
    ["waker", task],
  ]);
}
