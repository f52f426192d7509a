/** One transition of a run, planned and written in one transaction together with what caused it. */

import type { Tx } from "../../../../database/database.ts";
import { isOutage } from "../../../../database/failure.ts";
import { type Backoff, backoffMs } from "../../../../lib/async/retry.ts";
import { sleep } from "../../../../lib/async/sleep.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { FlowRun } from "../run.ts";
import { NotHeld, Plan } from "./plan.ts";
import { FlowConflict, withRun } from "./transitions.ts";

/** Other servers may work on the same run: after some rounds, those who are in each other's way wait for a moment. */
const MAX_TRIES = 100;
const TRIES_AT_ONCE = 3;
const BACKOFF: Backoff = { first_ms: 50, max_ms: 50, jitter: 1 };

/** Stores what belongs to a transition; false: the job ended elsewhere, and nothing is to be stored. */
export type Work = (tx: Tx) => Promise<boolean>;
/** The transaction it is done in. */
export type Write = (work: Work) => Promise<boolean>;

/** What a flow does next could not be worked out; nothing was stored. */
export class NotPlanned extends Error {
  constructor(cause: unknown) {
    super(String(cause), { cause });
  }
}

/**
 * One transition of a run, together with other work; planned anew when somebody else was first.
 * @param work undefined: there is nothing to be stored but what is planned
 * @param ask what is to be planned; undefined when the run has nothing to do with it: `work` alone is done
 * @throws NotPlanned; of a database that cannot be used for now, what it says
 */
export async function transact(
  app: App,
  root_id: string,
  { work, write }: { work?: Work | undefined; write: Write },
  ask: (run: FlowRun, isCertain: boolean) => ((plan: Plan) => Promise<void>) | undefined,
): Promise<boolean> {
  try {
    return await anew(() =>
      withRun(app, root_id, async (run, isCertain) => {
        const change = ask(run, isCertain);
        if (!change) return isCertain ? { written: work ? write(work) : Promise.resolve(true) } : undefined;
        const plan = new Plan(app, run);
        await carried(plan, () => change(plan)).catch((cause) => {
          throw cause instanceof FlowConflict || isOutage(cause) ? cause : new NotPlanned(cause);
        });
        // Planned in turn, written without waiting for the turn to end: see turns.ts.
        return { written: carried(plan, () => store(app, run, plan, { work, write })) };
      }),
    );
  } catch (cause) {
    if (cause instanceof NotHeld) return false;
    throw cause;
  }
}

/** Does it again as long as somebody else was first. */
export async function anew<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (cause) {
      if (!(cause instanceof FlowConflict) || tries >= MAX_TRIES) throw cause;
      if (tries >= TRIES_AT_ONCE) await sleep(backoffMs(BACKOFF, tries));
    }
  }
}

/** Gives back what a plan reserved when its transaction does not go through. */
export async function carried<T>(plan: Plan, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    plan.abandon();
    throw cause;
  }
}

/** SQLite writes in the order it was asked; the connections of PostgreSQL do not, so one plan waits for the one before. */
export async function store(
  app: App,
  run: FlowRun,
  plan: Plan,
  { work, write }: { work?: Work | undefined; write: Write },
): Promise<boolean> {
  if (app.db.dialect === "postgres") {
    await run.written;
    if (run.broken) throw new FlowConflict();
  }
  return write(async (tx) => {
    await plan.store(tx, work);
    return true;
  });
}
