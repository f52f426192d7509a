/**
 * Frames that go on by themselves (moments.ts): each is attended to as soon as it is due, whatever others take. Those
 * that have a moment of their own and those that only wait for their turn are in separate lanes. What is due in one run
 * is attended to together, since transitions of a run follow one another anyway.
 */
import { and, asc, eq, gt, gte, lt, lte } from "drizzle-orm";
import { isPassing } from "../../../../database/failure.ts";
import { type Backoff, backoffMs } from "../../../../lib/async/retry.ts";
import { sleep } from "../../../../lib/async/sleep.ts";
import { createGroup, createService, type Service } from "../../../../lib/async/start-stop.ts";
import type { App } from "../../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../../platform/loops/periodic-task.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { stopBelow, stopOrphans } from "../plan/stopping.ts";
import { FIRST_REAL, STOPS_BELOW, wakeFlowsAt, wakerOf } from "../plan/wake-times.ts";
import type { Woken } from "./wake-run.ts";

/** How often what a frame does next is worked out before the frame is given up. */
const MAX_TRIES = 5;
const BACKOFF: Backoff = { first_ms: 500, max_ms: 5_000 };
/** Most frames of a run that are attended to together. */
const MOST_TOGETHER = 500;
/** When one that could be neither worked out nor given up is looked at again. */
const REST_MS = 60_000;
/** Frames that have ended whose children are stopped in one transaction, and orphans that are. */
const MOST_STOPPING = 100;

interface Due {
  root_job: string;
  job_id: string;
}

interface Lane {
  condition: (now: Date) => ReturnType<typeof and>;
  /** Frames that are attended to at once. */
  most: number;
  busy: Set<string>;
  /** Those of them that nobody attends to yet, by run. */
  waiting: Map<string, string[]>;
  /** There may be more than were looked at. */
  more: boolean;
}

/** What is done with frames: see wake.ts and give-up.ts. */
export interface Attention {
  /** Wakes frames of one run, or some of them. */
  wake(root_job: string, frame_ids: readonly string[]): Promise<Woken>;
  /** A frame that cannot be woken fails. */
  giveUp(root_job: string, frame_id: string, cause: unknown): Promise<void>;
}

/** Wakes frames when they are due, and stops what is below those that have ended. */
export function createFlowWaker(app: App, { wake, giveUp }: Attention): Service {
  const { wake_at } = flowFrames;
  const lanes: Lane[] = [
    {
      condition: (now) => and(gte(wake_at, FIRST_REAL), lte(wake_at, now)),
      most: 4_000,
      busy: new Set(),
      waiting: new Map(),
      more: false,
    },
    {
      condition: () => and(gt(wake_at, STOPS_BELOW), lt(wake_at, FIRST_REAL)),
      most: 2_000,
      busy: new Set(),
      waiting: new Map(),
      more: false,
    },
  ];
  const orphans = new Set<string>();
  const underWay = new Set<Promise<void>>();
  /** Aborted when it is to stop. */
  let stopping = new AbortController().signal;

  /** A frame that has ended has no moment, or `STOPS_BELOW`: no job is looked at for this. */
  function due(condition: ReturnType<typeof and>, limit: number): Promise<Due[]> {
    return app.db.read
      .select({ root_job: flowFrames.root_job, job_id: flowFrames.job_id })
      .from(flowFrames)
      .where(condition)
      .orderBy(asc(wake_at))
      .limit(limit);
  }

  async function fill(lane: Lane, now: Date): Promise<void> {
    lane.more = lane.busy.size > lane.most / 2;
    if (lane.more) return;
    const found = await due(lane.condition(now), lane.most);
    lane.more = found.length === lane.most;
    for (const { root_job, job_id } of found) {
      // One that is due once more while it is attended to is looked at again after that.
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

  /** Attends to what is due in a run, and to what becomes due in it meanwhile. */
  async function attendTo(lane: Lane, root_job: string): Promise<void> {
    const waiting = lane.waiting.get(root_job)!;
    for (let outages = 0; waiting.length > 0 && !stopping.aborted; ) {
      const some = waiting.splice(0, MOST_TOGETHER);
      try {
        const { orphans: lost, left } = await wake(root_job, some);
        for (const id of lost) orphans.add(id);
        waiting.unshift(...left);
        const isLeft = new Set(left);
        attended(lane, isLeft.size === 0 ? some : some.filter((id) => !isLeft.has(id)));
        outages = 0;
      } catch (cause) {
        if (isPassing(cause)) {
          waiting.unshift(...some);
          await rest(cause, ++outages);
          continue;
        }
        // One that nothing can be made of keeps none of the others from going on.
        for (const id of some) follow(attendAlone({ root_job, job_id: id }).then(() => attended(lane, [id])));
      }
    }
    lane.waiting.delete(root_job);
  }

  function attended(lane: Lane, ids: readonly string[]): void {
    for (const id of ids) lane.busy.delete(id);
    if ((lane.more && lane.busy.size <= lane.most / 2) || orphans.size > 0) task.wake();
  }

  async function attendAlone({ root_job, job_id }: Due): Promise<void> {
    for (let tries = 1, outages = 0; !stopping.aborted; ) {
      try {
        const { orphans: lost, left } = await wake(root_job, [job_id]);
        for (const id of lost) orphans.add(id);
        if (left.length === 0) return;
      } catch (cause) {
        if (isPassing(cause)) {
          await rest(cause, ++outages);
          continue;
        }
        const about = { root_job, job: job_id, tries, error: String(cause), stack: (cause as Error)?.stack };
        app.log.error(about, "what a flow does next could not be worked out");
        if (tries >= MAX_TRIES) return abandon({ root_job, job_id }, cause);
        await sleep(backoffMs(BACKOFF, tries++), stopping);
      }
    }
  }

  /** Nothing is given up for what passes. */
  function rest(cause: unknown, times: number): Promise<void> {
    const again_in_ms = Math.round(backoffMs(BACKOFF, times));
    app.log.error({ error: String(cause), again_in_ms }, "flows that are due have to wait");
    return sleep(again_in_ms, stopping);
  }

  async function abandon({ root_job, job_id }: Due, cause: unknown): Promise<void> {
    try {
      await giveUp(root_job, job_id, cause);
    } catch (error) {
      app.log.error({ root_job, job: job_id, error: String(error) }, "a flow could not be given up");
      wakeFlowsAt(app, new Date(app.clock().getTime() + REST_MS));
    }
  }

  /** @returns whether there may be more to stop */
  async function stopSome(): Promise<boolean> {
    const lost = [...orphans].slice(0, MOST_STOPPING);
    if (lost.length > 0) await app.db.write((tx) => stopOrphans(app, tx, lost));
    for (const id of lost) orphans.delete(id);
    const ended = await due(eq(wake_at, STOPS_BELOW), MOST_STOPPING);
    const ids = ended.map(({ job_id }) => job_id);
    if (ids.length > 0) await app.db.write((tx) => stopBelow(app, tx, ids));
    return ids.length > 0 || orphans.size > 0;
  }

  /** @returns when the next frame is due */
  async function run(now: Date): Promise<Date | undefined> {
    for (const lane of lanes) await fill(lane, now);
    if (await stopSome()) return now;
    // What became due meanwhile is found by this, or it would be by none.
    const [next] = await app.db.read
      .select({ wake_at })
      .from(flowFrames)
      .where(gt(wake_at, now))
      .orderBy(asc(wake_at))
      .limit(1);
    return next?.wake_at ?? undefined;
  }

  const task = createPeriodicTask(app, { failure: "flows that are due could not be looked for", run });
  const frames = createService((signal) => {
    stopping = signal;
    wakerOf(app).wakeAt = task.wakeAt;
    return async () => {
      wakerOf(app).wakeAt = undefined;
      await Promise.all(underWay);
    };
  });
  // Stopped the other way round: first nothing more is begun, then what was begun is waited for.
  return createGroup(app.log, [
    ["frames", frames],
    ["waker", task],
  ]);
}
