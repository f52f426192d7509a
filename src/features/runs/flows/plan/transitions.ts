/**
 * Serializes the transitions of one flow run (optimistic locking on `version`). The next transition is planned while
 * the previous one is still being written; if that write fails, the run is reloaded and later plans are discarded with
 * FlowConflict. Absence from memory is proof only while memory is known to equal the database.
 */
import { eq } from "drizzle-orm";
import { isOutage } from "../../../../database/failure.ts";
import { memoizePerApp } from "../../../../lib/async/per-app.ts";
import { TransientMap } from "../../../../lib/collections/transient.ts";
import { Internal, SvcError, Unavailable } from "../../../../lib/errors.ts";
import type { App } from "../../../../platform/app/context.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { type FlowRun, loadRun } from "../live-run.ts";

/** Thrown if the run was changed since it was read. */
export class FlowConflict extends Unavailable {
  constructor() {
    super("others change this run of a flow all the time: try again");
  }
}

/** Thrown if the stored run cannot be read: no transition can be planned. */
export class UnreadableRun extends Error {
  constructor(root_id: string, cause: unknown) {
    super(`run ${root_id} cannot be read: ${cause}`, { cause });
  }
}

/**
 * After a conflict with another server, transitions of the run are written one at a time for this long. Plans based on
 * a failed write would be wasted.
 */
const CONTENTION_MS = 2_000;

/** Maximum idle runs in memory, and how many stay when it is exceeded. */
const MAX_CACHED_RUNS = 2_000;
const KEPT_RUNS = 1_800;

interface RunEntry {
  run: FlowRun | undefined;
  tail: Promise<unknown>;
  /** Transitions that wait, or whose write is not finished. */
  users: number;
  /** Another server is known to change the run until this time, in milliseconds of `performance.now()`. */
  contended_until: number;
}

const runEntriesOf = memoizePerApp<App, TransientMap<RunEntry>>(() => new TransientMap());

/** A planned transition that is being written. */
export interface PlannedTransition<T> {
  written: Promise<T>;
}

/**
 * Plans a transition and starts its write. `isCertain`: memory equals the database, so that what is not in the run does
 * not exist. It returns undefined to be called again with `isCertain`.
 */
type TransitionPlanner<T> = (run: FlowRun, isCertain: boolean) => Promise<PlannedTransition<T> | undefined>;

/**
 * Calls `work` with the run once all earlier transitions are planned.
 * @returns the result of the write
 */
export async function withFlowRun<T>(app: App, root_id: string, work: TransitionPlanner<T>): Promise<T> {
  const slots = runEntriesOf(app);
  const slot = slots.get(root_id) ?? {
    run: undefined,
    tail: Promise.resolve(),
    users: 0,
    contended_until: 0,
  };
  // Moved to the end: the entries are in order of last use.
  slots.delete(root_id);
  slots.set(root_id, slot);
  slot.users++;
  evictIdle(slots);
  const turn = slot.tail.then(() => runTransition(app, root_id, slot, work));
  slot.tail = turn.catch(() => {});
  try {
    return await (await turn).written;
  } catch (cause) {
    const isShared = app.db.dialect === "postgres";
    if (isShared && cause instanceof FlowConflict) slot.contended_until = performance.now() + CONTENTION_MS;
    throw cause;
  } finally {
    slot.users--;
    const { run } = slot;
    const isOver = run?.frames.size === 0 || ((!run || run.broken) && !isContended(slot));
    if (slot.users === 0 && isOver) slots.delete(root_id);
  }
}

async function runTransition<T>(
  app: App,
  root_id: string,
  slot: RunEntry,
  work: TransitionPlanner<T>,
): Promise<PlannedTransition<T>> {
  const isAlone = isContended(slot);
  const isRead = isAlone || !slot.run || slot.run.broken;
  const run = isRead ? await readCurrentRun(app, root_id, slot) : slot.run!;
  // On PostgreSQL another server may have changed the run.
  const isCertain = isRead || (app.db.dialect === "sqlite" && run.writing === 0);
  const planned =
    (await planTransition(run, isCertain, work)) ??
    (await planTransition(await readCurrentRun(app, root_id, slot), true, work));
  if (!planned) throw new Internal(`nothing was planned for run ${root_id}`);
  if (isAlone) await planned.written;
  return planned;
}

function isContended(slot: RunEntry): boolean {
  return performance.now() < slot.contended_until;
}

/**
 * Returns the run as stored in the database. It is reloaded only if its version changed, since a wide flow has
 * thousands of frames.
 */
async function readCurrentRun(app: App, root_id: string, slot: RunEntry): Promise<FlowRun> {
  const { run } = slot;
  await run?.written;
  if (!run || run.broken) return reloadRun(app, root_id, slot);
  const isSame = app.db.dialect === "sqlite" || (await readVersion(app, root_id)) === run.version;
  return isSame ? run : reloadRun(app, root_id, slot);
}

async function readVersion(app: App, root_id: string): Promise<number | undefined> {
  const [root] = await app.db.read
    .select({ version: flowFrames.version })
    .from(flowFrames)
    .where(eq(flowFrames.job_id, root_id));
  return root?.version;
}

async function reloadRun(app: App, root_id: string, slot: RunEntry): Promise<FlowRun> {
  // Writes in progress belong to the state that is read.
  await slot.run?.written;
  const overruns = slot.run?.overruns ?? 0;
  slot.run = undefined;
  const loaded = await loadRun(app, root_id).catch((cause) => {
    throw cause instanceof SvcError || isOutage(cause) ? cause : new UnreadableRun(root_id, cause);
  });
  slot.run = { ...loaded, overruns };
  return slot.run;
}

async function planTransition<T>(
  run: FlowRun,
  isCertain: boolean,
  work: TransitionPlanner<T>,
): Promise<PlannedTransition<T> | undefined> {
  try {
    const planned = await work(run, isCertain);
    if (planned) trackWrite(run, planned.written);
    return planned;
  } catch (cause) {
    run.broken = true;
    throw cause;
  }
}

function trackWrite(run: FlowRun, written: Promise<unknown>): void {
  const before = run.written;
  run.writing++;
  const done = () => {
    run.writing--;
    return before;
  };
  run.written = written.then(done, done);
}

function evictIdle(slots: TransientMap<RunEntry>): void {
  if (slots.size <= MAX_CACHED_RUNS) return;
  for (const root_id of slots.keys()) {
    if (slots.get(root_id)!.users > 0) continue;
    slots.delete(root_id);
    if (slots.size <= KEPT_RUNS) return;
  }
}

/** Caches a new run after its commit, unless it was read from the database meanwhile. */
export function cacheRun(app: App, run: FlowRun): void {
  const slots = runEntriesOf(app);
  if (run.frames.size === 0 || slots.has(run.root_id)) return;
  slots.set(run.root_id, { run, tail: Promise.resolve(), users: 0, contended_until: 0 });
  evictIdle(slots);
}
