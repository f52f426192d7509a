/** The ways into running flows: a flow begins, a step ends, somebody answers or cancels; for moments see wake.ts. */

import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import type { FlowValue } from "../../../engines/flow-engine/types.ts";
import { type Backoff, backoffMs } from "../../../lib/async/retry.ts";
import { sleep } from "../../../lib/async/sleep.ts";
import { Internal } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { withFollowUp } from "../../../platform/app/job-ends.ts";
import { aboutJob } from "../../../platform/queue/log-fields.ts";
import { isFrame } from "../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { type FlowResume, flowResumes } from "../../code/flows/tables.ts";
import { jobSealedAnew, StaleSeal } from "../arguments/stale-ciphertext.ts";
import { cachedResult } from "../job/cached-results.ts";
import { verdict } from "./drive/answers.ts";
import { drive, endFromCache, flowFrame, liveFlow, stopFrame } from "./drive/drive.ts";
import {
  anew,
  carried,
  NotPlanned,
  store,
  transact,
  type Work,
  type Write,
} from "./plan/commit-transition.ts";
import { NotHeld, Plan } from "./plan/plan.ts";
import { UnreadableRun, withRun } from "./plan/transitions.ts";
import { beginningOf } from "./restart.ts";
import { emptyRun, type FlowRun, type LiveFrame, reviveFrame } from "./run.ts";
import { giveUpFrame } from "./wake/fail-run.ts";

/** How often what follows the end of a step is worked out before its frame is given up. */
const MAX_END_TRIES = 3;
const END_BACKOFF: Backoff = { first_ms: 500, max_ms: 1_000 };

/**
 * Plans the beginning of a flow whose job is about to be stored as running.
 * @returns the plan, to be stored in the same transaction
 * @throws BadRequest when it is to go on from a run that did not come so far
 */
export async function beginFlow(
  app: App,
  job: Job,
  value: FlowValue,
  options: { skip_preprocessor: boolean },
): Promise<Plan> {
  const taken = job.flow_body === null ? undefined : await beginningOf(app, job, value);
  const run = emptyRun(job.id);
  const plan = new Plan(app, run, { begins: true });
  const frame = flowFrame(liveFlow(job, value, 0), {
    parent: undefined,
    module: undefined,
    index: undefined,
  });
  try {
    const cached = job.cache_ttl ? await cachedResult(app, job) : undefined;
    if (cached !== undefined) {
      plan.frameBegins(frame, undefined);
      endFromCache(plan, frame, cached);
      return plan;
    }
    if (taken) frame.state = taken.state;
    plan.frameBegins(frame, undefined);
    for (const each of taken?.iterations ?? []) plan.takenOver(each);
    if (taken?.items) plan.keepItems(frame, taken.items.module, taken.items.items);
    await drive(app, run, plan, frame, taken?.event ?? { type: "start", ...options });
  } catch (cause) {
    plan.abandon();
    throw cause;
  }
  return plan;
}

/**
 * Begins a flow that was queued and that this worker has claimed: from here on no worker holds it.
 * @returns false when it is not this worker's to begin any more: somebody canceled it, or another worker has it
 */
export async function beginClaimedFlow(app: App, job: Job): Promise<boolean> {
  const frame = await reviveFrame(app, job, undefined);
  const plan = await beginFlow(app, job, frame.flow.value, { skip_preprocessor: !job.preprocessor_input });
  const isMine = and(
    eq(jobs.id, job.id),
    eq(jobs.state, "running"),
    eq(jobs.worker, app.queue.worker),
    eq(jobs.cancel_requested, false),
  );
  const release = async (tx: Tx) => {
    const released = { worker: null, last_ping: null };
    return (await tx.update(jobs).set(released).where(isMine).returning({ id: jobs.id })).length > 0;
  };
  try {
    await carried(plan, () => app.db.write((tx) => plan.store(tx, release)));
    return true;
  } catch (cause) {
    if (cause instanceof NotHeld) return false;
    if (cause instanceof StaleSeal) return beginClaimedFlow(app, await jobSealedAnew(app, job));
    throw cause;
  }
}

export interface JobEnd {
  status: "success" | "failure" | "canceled" | "skipped";
  /** JSON text. */
  result: string;
}

/**
 * Stores the end of any job. Of a flow's step it stores, in the same transaction, what the flow does next.
 * @param work stores the end itself; false: the job ended elsewhere, and nothing is to be stored
 * @param write the transaction it is done in; the database's own when left out
 * @returns what `work` returned
 */
export async function endJob(
  app: App,
  job: Job,
  { status, result }: JobEnd,
  work: Work,
  write: Write = app.db.write,
): Promise<boolean> {
  if (job.flow_step_id === null || job.root_job === null) return write(withFollowUp(app, job, status, work));
  const module = job.flow_step_id;
  const index = job.flow_index ?? undefined;
  const tell = (run: FlowRun) => {
    const frame = run.frames.get(job.parent_job ?? "");
    if (!frame) return undefined;
    return (plan: Plan) => {
      plan.remember({ id: job.id, parent: frame.id, module, index, status }, result);
      return drive(app, run, plan, frame, { type: "child", module, job: job.id, index, status, result });
    };
  };
  for (let tries = 1; ; tries++) {
    try {
      return await transact(app, job.root_job, { work, write }, tell);
    } catch (cause) {
      if (!(cause instanceof NotPlanned || cause instanceof UnreadableRun)) throw cause;
      const about = { root_job: job.root_job, ...aboutJob(job), tries, error: cause.message };
      app.log.error(about, "what a flow does after a step could not be worked out");
      if (tries < MAX_END_TRIES) {
        await sleep(backoffMs(END_BACKOFF, tries));
        continue;
      }
      // The step has ended whatever becomes of its flow.
      await giveUpFrame(app, job.root_job, job.parent_job ?? "", cause);
      return write(work);
    }
  }
}

/**
 * Stores the answer to an approval, and in the same transaction what the flow does next. Answers to one run come one
 * after the other, and none is stored while the run changes: so each sees all that came before it, and a frame that
 * begins to wait sees all that came early.
 * @param accept makes the answer out of the frame as it stands; undefined: it does not run. What it throws is passed on
 */
export async function answerFrame(
  app: App,
  where: { root_job: string; frame_id: string },
  accept: (frame: LiveFrame | undefined) => Promise<FlowResume>,
  write: Write,
): Promise<void> {
  await anew(() =>
    withRun(app, where.root_job, async (run, isCertain) => {
      const frame = run.frames.get(where.frame_id);
      if (!frame && !isCertain) return undefined;
      return storeAnswer(app, run, { frame, answer: await accept(frame), write });
    }),
  );
}

interface Answering {
  frame: LiveFrame | undefined;
  answer: FlowResume;
  write: Write;
}

/** The turn ends when the answer is stored. */
async function storeAnswer(
  app: App,
  run: FlowRun,
  { frame, answer, write }: Answering,
): Promise<{ written: Promise<boolean> }> {
  const plan = new Plan(app, run);
  const work = async (tx: Tx) => {
    await tx.insert(flowResumes).values(answer);
    return true;
  };
  run.answer = answer;
  try {
    await carried(plan, async () => {
      const event = frame && (await verdict(app, run, frame));
      if (event) await drive(app, run, plan, frame, event);
    });
    const written = carried(plan, () => store(app, run, plan, { work, write }));
    await written;
    return { written };
  } finally {
    run.answer = undefined;
  }
}

/**
 * Cancels a flow that runs: everything in it stops.
 * @param end `result` is JSON text
 * @param write the transaction it is done in; the database's own when left out
 * @returns false when it had ended
 */
export async function cancelFlow(
  app: App,
  job: Job,
  { result, ...canceled }: { result: string; canceled_by: string; canceled_reason: string },
  write: Write = app.db.write,
): Promise<boolean> {
  if (!isFrame(job.kind)) throw new Internal(`job ${job.id} is no flow`);
  const root_id = job.flow_step_id === null ? job.id : (job.root_job ?? job.id);
  const work = async (tx: Tx) => {
    const runs = and(eq(jobs.id, job.id), eq(jobs.state, "running"));
    return (await tx.update(jobs).set(canceled).where(runs).returning({ id: jobs.id })).length > 0;
  };
  return transact(app, root_id, { work, write }, (run) => {
    const frame = run.frames.get(job.id);
    return frame && ((plan) => stopFrame(app, run, plan, { frame, status: "canceled", result }));
  });
}
