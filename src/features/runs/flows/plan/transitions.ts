/**
 * Transitions of one run follow one another. The next is planned as soon as the one before is on its way to the
 * database, not when it is there: each raises the run's version, and one that does not find the version it started from
 * changes nothing. A run is read anew whenever a write did not go through. That something is absent in memory proves it
 * only while memory and database are known to agree.
 */
import { eq } from "drizzle-orm";
import { isOutage } from "../../../../database/failure.ts";
import { perApp } from "../../../../lib/async/per-app.ts";
import { Internal, SvcError, Unavailable } from "../../../../lib/errors.ts";
import type { App } from "../../../../platform/app/context.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { type FlowRun, loadRun } from "../run.ts";

/** Somebody else has changed the run since it was read. */
export class FlowConflict extends Unavailable {
  constructor() {
    super("others change this run of a flow all the time: try again");
  }
}

/** What is stored of a run cannot be read: nothing can be planned upon it. */
export class UnreadableRun extends Error {
  constructor(root_id: string, cause: unknown) {
    super(`run ${root_id} cannot be read: ${cause}`, { cause });
  }
}

/**
 * After another server was first, this long transitions of the run are written one by one: all that is planned upon one
 * that does not go through is planned in vain.
 */
const CONTENDED_MS = 2_000;

/** Runs kept in memory while nothing happens to them. */
const MAX_RUNS = 2_000;

interface Slot {
  run: FlowRun | undefined;
  tail: Promise<unknown>;
  /** Who waits for a turn, or for what was planned in it to be written. */
  users: number;
  /** Until then it is known that another server changes it too, in milliseconds of `performance.now()`. */
  contended_until: number;
}

const slotsOf = perApp<App, Map<string, Slot>>(() => new Map());

/** What was planned, on its way to the database. */
export interface Planned<T> {
  written: Promise<T>;
}

/**
 * What is done in a turn: it plans, and begins to write. `isCertain` says that memory holds what the database does, so
 * that what is not in the run is nowhere. It answers undefined when it has to be certain, and is handed the run once more.
 */
type Turn<T> = (run: FlowRun, isCertain: boolean) => Promise<Planned<T> | undefined>;

/**
 * Hands the run to `work` when everything asked for before has been planned.
 * @returns what was written
 */
export async function withRun<T>(app: App, root_id: string, work: Turn<T>): Promise<T> {
  const slots = slotsOf(app);
  const slot = slots.get(root_id) ?? {
    run: undefined,
    tail: Promise.resolve(),
    users: 0,
    contended_until: 0,
  };
  // The one used last stands at the end.
  slots.delete(root_id);
  slots.set(root_id, slot);
  slot.users++;
  forgetIdle(slots);
  const turn = slot.tail.then(() => takeTurn(app, root_id, slot, work));
  slot.tail = turn.catch(() => {});
  try {
    return await (await turn).written;
  } catch (cause) {
    const isShared = app.db.dialect === "postgres";
    if (isShared && cause instanceof FlowConflict) slot.contended_until = performance.now() + CONTENDED_MS;
    throw cause;
  } finally {
    slot.users--;
    const { run } = slot;
    const isOver = run?.frames.size === 0 || ((!run || run.broken) && !isContended(slot));
    if (slot.users === 0 && isOver) slots.delete(root_id);
  }
}

async function takeTurn<T>(app: App, root_id: string, slot: Slot, work: Turn<T>): Promise<Planned<T>> {
  const isAlone = isContended(slot);
  const isRead = isAlone || !slot.run || slot.run.broken;
  const run = isRead ? await certainRun(app, root_id, slot) : slot.run!;
  // Another server changes what is in PostgreSQL without telling.
  const isCertain = isRead || (app.db.dialect === "sqlite" && run.writing === 0);
  const planned =
    (await planWith(run, isCertain, work)) ??
    (await planWith(await certainRun(app, root_id, slot), true, work));
  if (!planned) throw new Internal(`nothing was planned for run ${root_id}`);
  if (isAlone) await planned.written;
  return planned;
}

function isContended(slot: Slot): boolean {
  return performance.now() < slot.contended_until;
}

/**
 * The run as the database has it. One that nobody else has changed is not read again: a wide flow has many thousands of
 * frames.
 */
async function certainRun(app: App, root_id: string, slot: Slot): Promise<FlowRun> {
  const { run } = slot;
  await run?.written;
  if (!run || run.broken) return readAnew(app, root_id, slot);
  const isSame = app.db.dialect === "sqlite" || (await versionOf(app, root_id)) === run.version;
  return isSame ? run : readAnew(app, root_id, slot);
}

async function versionOf(app: App, root_id: string): Promise<number | undefined> {
  const [root] = await app.db.read
    .select({ version: flowFrames.version })
    .from(flowFrames)
    .where(eq(flowFrames.job_id, root_id));
  return root?.version;
}

async function readAnew(app: App, root_id: string, slot: Slot): Promise<FlowRun> {
  // What is on its way to the database belongs to what is read.
  await slot.run?.written;
  const overruns = slot.run?.overruns ?? 0;
  slot.run = undefined;
  const loaded = await loadRun(app, root_id).catch((cause) => {
    throw cause instanceof SvcError || isOutage(cause) ? cause : new UnreadableRun(root_id, cause);
  });
  slot.run = { ...loaded, overruns };
  return slot.run;
}

async function planWith<T>(run: FlowRun, isCertain: boolean, work: Turn<T>): Promise<Planned<T> | undefined> {
  try {
    const planned = await work(run, isCertain);
    if (planned) follow(run, planned.written);
    return planned;
  } catch (cause) {
    run.broken = true;
    throw cause;
  }
}

function follow(run: FlowRun, written: Promise<unknown>): void {
  const before = run.written;
  run.writing++;
  const done = () => {
    run.writing--;
    return before;
  };
  run.written = written.then(done, done);
}

function forgetIdle(slots: Map<string, Slot>): void {
  if (slots.size <= MAX_RUNS) return;
  for (const [root_id, slot] of slots) {
    if (slot.users > 0) continue;
    slots.delete(root_id);
    if (slots.size <= MAX_RUNS) return;
  }
}

/** Keeps a run that has begun and is committed, unless somebody has read it from the database meanwhile. */
export function keepRun(app: App, run: FlowRun): void {
  const slots = slotsOf(app);
  if (run.frames.size === 0 || slots.has(run.root_id)) return;
  slots.set(run.root_id, { run, tail: Promise.resolve(), users: 0, contended_until: 0 });
  forgetIdle(slots);
}
