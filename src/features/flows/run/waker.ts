/**
 * Frames that go on by themselves (moments.ts): each is attended to as soon as it is due, whatever others take. Those
 * that have a moment of their own and those that only wait for their turn are in separate lanes.
 */
import { and, asc, eq, gt, gte, lt, lte, ne } from "drizzle-orm";
import type { App } from "../../../context.ts";
import { jobs } from "../../../queue/tables.ts";
import { flowFrames } from "../tables.ts";
import { alarmOf, FIRST_REAL, wakeFlowsAt } from "./moments.ts";
import { stopBelow, stopOrphans } from "./stopping.ts";

/** Another server may have asked for a moment, and be gone. */
const POSTGRES_POLL_MS = 5_000;
/** After looking failed. */
const RETRY_MS = 500;
/** How often what a frame does next is worked out, with a pause that doubles, before the frame is given up. */
const MAX_TRIES = 5;
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
  /** There may be more than were looked at. */
  more: boolean;
}

/** What is done with frames, by runs.ts. */
export interface Attention {
  /** @returns false when the frame runs inside of what has ended */
  wake(root_job: string, frame_id: string): Promise<boolean>;
  /** A frame that cannot be woken fails. */
  giveUp(root_job: string, frame_id: string, cause: unknown): Promise<void>;
}

/** Wakes frames when they are due, and stops what is below those that have ended. */
export function startFlowWaker(app: App, { wake, giveUp }: Attention): { stop(): Promise<void> } {
  const alarm = alarmOf(app);
  const { wake_at } = flowFrames;
  const lanes: Lane[] = [
    {
      condition: (now) => and(gte(wake_at, FIRST_REAL), lte(wake_at, now)),
      most: 4_000,
      busy: new Set(),
      more: false,
    },
    { condition: () => lt(wake_at, FIRST_REAL), most: 200, busy: new Set(), more: false },
  ];
  const orphans = new Set<string>();
  const underWay = new Set<Promise<void>>();
  const stopping = Promise.withResolvers<void>();
  let isStopped = false;
  let looking: Promise<void> = Promise.resolve();
  let isAsked = false;

  function due(condition: ReturnType<typeof and>, limit: number): Promise<Due[]> {
    return app.db.read
      .select({ root_job: flowFrames.root_job, job_id: flowFrames.job_id })
      .from(flowFrames)
      .innerJoin(jobs, eq(jobs.id, flowFrames.job_id))
      .where(condition)
      .orderBy(asc(wake_at))
      .limit(limit);
  }

  async function fill(lane: Lane, now: Date): Promise<void> {
    lane.more = lane.busy.size > lane.most / 2;
    if (lane.more) return;
    const found = await due(and(lane.condition(now), eq(jobs.state, "running")), lane.most);
    lane.more = found.length === lane.most;
    for (const each of found) {
      // One that is due once more while it is attended to is looked at again after that.
      if (lane.busy.has(each.job_id)) lane.more = true;
      else if (!orphans.has(each.job_id)) begin(lane, each);
    }
  }

  function begin(lane: Lane, frame: Due): void {
    lane.busy.add(frame.job_id);
    const work = attend(frame).finally(() => {
      underWay.delete(work);
      lane.busy.delete(frame.job_id);
      if ((lane.more && lane.busy.size <= lane.most / 2) || orphans.size > 0) alarm.ring?.();
    });
    underWay.add(work);
  }

  async function attend({ root_job, job_id }: Due): Promise<void> {
    for (let tries = 1; !isStopped; tries++) {
      try {
        if (!(await wake(root_job, job_id))) orphans.add(job_id);
        return;
      } catch (cause) {
        const about = { root_job, job: job_id, tries, error: String(cause), stack: (cause as Error)?.stack };
        app.log.error(about, "what a flow does next could not be worked out");
        if (tries >= MAX_TRIES) return abandon({ root_job, job_id }, cause);
        await Promise.race([pause(RETRY_MS * 2 ** (tries - 1)), stopping.promise]);
      }
    }
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
    const marked = and(lte(wake_at, app.clock()), ne(jobs.state, "running"));
    const ended = await due(marked, MOST_STOPPING);
    const ids = ended.map(({ job_id }) => job_id);
    if (ids.length > 0) await app.db.write((tx) => stopBelow(app, tx, ids));
    return ids.length > 0 || orphans.size > 0;
  }

  async function look(): Promise<void> {
    isAsked = false;
    alarm.at = Number.POSITIVE_INFINITY;
    // What becomes due while this looks is found by the last question, or it would be by none.
    const now = app.clock();
    for (const lane of lanes) await fill(lane, now);
    if (await stopSome()) return wakeFlowsAt(app, app.clock());
    const [next] = await app.db.read
      .select({ wake_at })
      .from(flowFrames)
      .innerJoin(jobs, eq(jobs.id, flowFrames.job_id))
      .where(and(gt(wake_at, now), eq(jobs.state, "running")))
      .orderBy(asc(wake_at))
      .limit(1);
    if (next?.wake_at) wakeFlowsAt(app, next.wake_at);
  }

  alarm.ring = () => {
    if (isAsked || isStopped) return;
    isAsked = true;
    looking = looking.then(look).catch((cause) => {
      app.log.error({ error: String(cause) }, "flows that are due could not be looked for");
      wakeFlowsAt(app, new Date(app.clock().getTime() + RETRY_MS));
    });
  };
  alarm.ring();
  const poll = app.db.dialect === "postgres" ? setInterval(alarm.ring, POSTGRES_POLL_MS) : undefined;
  return {
    async stop() {
      clearInterval(poll);
      alarm.ring = undefined;
      clearTimeout(alarm.timer);
      isStopped = true;
      stopping.resolve();
      await looking;
      await Promise.all(underWay);
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
