/** Plans and stores one transition of a flow run, in one transaction with its cause. */

import type { Tx } from "../../../../database/database.ts";
import { isOutage } from "../../../../database/failure.ts";
import type { Awaitable } from "../../../../lib/async/awaitable.ts";
import { type Backoff, computeBackoffMs } from "../../../../lib/async/retry.ts";
import { sleep } from "../../../../lib/async/sleep.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { FlowRun } from "../live-run.ts";
import { JobAlreadyEnded, Plan } from "./plan.ts";
import { FlowConflict, withFlowRun } from "./transitions.ts";

/** Attempts when other servers change the same run. After IMMEDIATE_ATTEMPTS conflicts each further attempt waits. */
const MAX_ATTEMPTS = 100;
const IMMEDIATE_ATTEMPTS = 3;
const BACKOFF: Backoff = { first_ms: 50, max_ms: 50, jitter: 1 };

/**
 * Stores the rows that belong to a transition. Returns false if the job was completed elsewhere; then nothing is
 * stored.
 */
export type TransactionWork = (tx: Tx) => Awaitable<boolean>;
/** Runs work in a transaction. */
export type TransactionRunner = (work: TransactionWork) => Promise<boolean>;

/** Thrown if a transition could not be planned. Nothing was stored. */
export class PlanningFailed extends Error {
  constructor(cause: unknown) {
    super(String(cause), { cause });
  }
}

/**
 * Plans and stores one transition of a flow run in one transaction with `work`. Retries on FlowConflict.
 * @param work undefined: only the plan is stored
 * @param ask returns what to plan; undefined if the run is not affected: then only `work` runs
 * @returns false if the job was already completed elsewhere
 * @throws PlanningFailed; transient database errors unchanged
 */
export async function commitTransition(
  app: App,
  root_id: string,
  { work, write }: { work?: TransactionWork | undefined; write: TransactionRunner },
  ask: (run: FlowRun, isCertain: boolean) => ((plan: Plan) => Promise<void>) | undefined,
): Promise<boolean> {
  try {
    return await retryOnConflict(() =>
      withFlowRun(app, root_id, async (run, isCertain) => {
        const change = ask(run, isCertain);
        if (!change) return isCertain ? { written: work ? write(work) : Promise.resolve(true) } : undefined;
        const plan = new Plan(app, run);
        await abandonOnError(plan, () => change(plan)).catch((cause) => {
          throw cause instanceof FlowConflict || isOutage(cause) ? cause : new PlanningFailed(cause);
        });
        // The write is not awaited here, so that the next transition can be planned: see transitions.ts.
        return { written: abandonOnError(plan, () => writePlan(app, run, plan, { work, write })) };
      }),
    );
  } catch (cause) {
    if (cause instanceof JobAlreadyEnded) return false;
    throw cause;
  }
}

/** Retries while another server changes the run first. */
export async function retryOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (cause) {
      if (!(cause instanceof FlowConflict) || tries >= MAX_ATTEMPTS) throw cause;
      if (tries >= IMMEDIATE_ATTEMPTS) await sleep(computeBackoffMs(BACKOFF, tries));
    }
  }
}

/** Abandons the plan, which frees its reserved slots, if `write` fails. */
export async function abandonOnError<T>(plan: Plan, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    plan.abandon();
    throw cause;
  }
}

/** Stores a plan. SQLite writes in call order. PostgreSQL connections do not, so a plan waits for the one before. */
export async function writePlan(
  app: App,
  run: FlowRun,
  plan: Plan,
  { work, write }: { work?: TransactionWork | undefined; write: TransactionRunner },
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
