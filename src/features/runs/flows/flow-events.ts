/**
 * Events of flow runs: start of a flow, completion of a step, answer to an approval, cancellation. Timers are in wake/.
 *
 * From event to commit: this file or `wake/wake-run.ts`, then `plan/transitions.ts` (serializes the transitions of a
 * run), `drive/apply-event.ts` (asks the engine) and `plan/commit-transition.ts` (one transaction).
 *
 * Permanent failures are handled by `wake/fail-run.ts`. Transient ones (`isTransient` in database/failure.ts: the
 * database is unreachable, another server was first) are retried: flows by `wake/wake-up-timers.ts`, jobs by
 * `retryOnOutage` and by worker/complete-with-retry.ts. Every outcome of a job is stored by worker/complete-job.ts.
 */

import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import type { FlowValue } from "../../../engines/flow-engine/types.ts";
import { type Backoff, computeBackoffMs } from "../../../lib/async/retry.ts";
import { sleep } from "../../../lib/async/sleep.ts";
import { Internal } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { withFollowUp } from "../../../platform/app/job-ends.ts";
import { getLogFields } from "../../../platform/queue/log-fields.ts";
import { isFrame } from "../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { type FlowResume, flowResumes } from "../../code/flows/tables.ts";
import { reencryptJob, StaleCiphertext } from "../arguments/stale-ciphertext.ts";
import { findCachedResult } from "../job/cached-results.ts";
import { applyEvent, completeFromCache, stopFrame } from "./drive/apply-event.ts";
import { findVerdict } from "./drive/approval-answers.ts";
import { createFlowFrame, createLiveFlow } from "./drive/create-frames.ts";
import { createEmptyRun, type FlowRun, type LiveFrame, loadFrame } from "./live-run.ts";
import {
  abandonOnError,
  commitTransition,
  PlanningFailed,
  retryOnConflict,
  type TransactionRunner,
  type TransactionWork,
  writePlan,
} from "./plan/commit-transition.ts";
import { JobAlreadyEnded, Plan } from "./plan/plan.ts";
import { UnreadableRun, withFlowRun } from "./plan/transitions.ts";
import { loadRestartState } from "./restart.ts";
import { failFrame } from "./wake/fail-run.ts";

/** Maximum attempts to plan the transition after a step's completion, before its frame fails. */
const MAX_TRANSITION_ATTEMPTS = 3;
const TRANSITION_BACKOFF: Backoff = { first_ms: 500, max_ms: 1_000 };

/**
 * Plans the start of a flow whose job is about to be stored as running.
 * @returns the plan, to be stored in the same transaction
 * @throws BadRequest if it restarts from a step that the earlier run did not reach
 */
export async function startFlow(
  app: App,
  job: Job,
  value: FlowValue,
  options: { skip_preprocessor: boolean },
): Promise<Plan> {
  const taken = job.flow_body === null ? undefined : await loadRestartState(app, job, value);
  const run = createEmptyRun(job.id);
  const plan = new Plan(app, run, { begins: true });
  const frame = createFlowFrame(createLiveFlow(job, value, 0), {
    parent: undefined,
    module: undefined,
    index: undefined,
  });
  try {
    const cached = job.cache_ttl ? await findCachedResult(app, job) : undefined;
    if (cached !== undefined) {
      plan.addFrame(frame, undefined);
      completeFromCache(plan, frame, cached);
      return plan;
    }
    if (taken) frame.state = taken.state;
    plan.addFrame(frame, undefined);
    for (const each of taken?.iterations ?? []) plan.addTakenOver(each);
    if (taken?.items) plan.storeItems(frame, taken.items.module, taken.items.items);
    await applyEvent(app, run, plan, frame, taken?.event ?? { type: "start", ...options });
  } catch (cause) {
    plan.abandon();
    throw cause;
  }
  return plan;
}

/**
 * Starts a flow that this worker has claimed. From then on no worker holds it.
 * @returns false if it was canceled, or another worker holds it
 */
export async function startClaimedFlow(app: App, job: Job): Promise<boolean> {
  const frame = await loadFrame(app, job, undefined);
  const plan = await startFlow(app, job, frame.flow.value, { skip_preprocessor: !job.preprocessor_input });
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
    await abandonOnError(plan, () => app.db.write((tx) => plan.store(tx, release)));
    return true;
  } catch (cause) {
    if (cause instanceof JobAlreadyEnded) return false;
    if (cause instanceof StaleCiphertext) return startClaimedFlow(app, await reencryptJob(app, job));
    throw cause;
  }
}

type StepJob = Job & { flow_step_id: string; root_job: string };

export interface StepOutcome {
  status: "success" | "failure" | "canceled" | "skipped";
  /** JSON text. */
  result: string;
}

/**
 * Completes a job. If it is a step of a flow, the flow's next transition is stored in the same transaction.
 * @param work stores the completion; returns false if the job was completed elsewhere, and then nothing is stored
 * @param write runs the transaction; default: the database's own
 * @returns the result of `work`
 */
export function completeWithTransition(
  app: App,
  job: Job,
  outcome: StepOutcome,
  work: TransactionWork,
  write: TransactionRunner = app.db.write,
): Promise<boolean> {
  const { flow_step_id, root_job } = job;
  if (flow_step_id === null || root_job === null) return write(withFollowUp(app, job, outcome.status, work));
  return completeStep(app, job as StepJob, outcome, { work, write });
}

async function completeStep(
  app: App,
  job: StepJob,
  { status, result }: StepOutcome,
  { work, write }: { work: TransactionWork; write: TransactionRunner },
): Promise<boolean> {
  const module = job.flow_step_id;
  const index = job.flow_index ?? undefined;
  const tell = (run: FlowRun) => {
    const frame = run.frames.get(job.parent_job ?? "");
    if (!frame) return undefined;
    return (plan: Plan) => {
      plan.rememberResult({ id: job.id, parent: frame.id, module, index, status }, result);
      return applyEvent(app, run, plan, frame, { type: "child", module, job: job.id, index, status, result });
    };
  };
  for (let tries = 1; ; tries++) {
    try {
      return await commitTransition(app, job.root_job, { work, write }, tell);
    } catch (cause) {
      if (!(cause instanceof PlanningFailed || cause instanceof UnreadableRun)) throw cause;
      const about = { root_job: job.root_job, ...getLogFields(job), tries, error: cause.message };
      app.log.error(about, "the transition after a flow step could not be planned");
      if (tries < MAX_TRANSITION_ATTEMPTS) {
        await sleep(computeBackoffMs(TRANSITION_BACKOFF, tries));
        continue;
      }
      // The step is completed even if its flow cannot continue.
      await failFrame(app, job.root_job, job.parent_job ?? "", cause);
      return write(work);
    }
  }
}

/**
 * Stores the answer to an approval and the flow's next transition in one transaction. Answers to one run are
 * serialized, so each sees all earlier ones, and a frame that begins to wait sees answers that came early.
 * @param accept creates the answer from the current frame; undefined: it no longer runs. Its errors are passed on
 */
export async function recordApproval(
  app: App,
  where: { root_job: string; frame_id: string },
  accept: (frame: LiveFrame | undefined) => Promise<FlowResume>,
  write: TransactionRunner,
): Promise<void> {
  await retryOnConflict(() =>
    withFlowRun(app, where.root_job, async (run, isCertain) => {
      const frame = run.frames.get(where.frame_id);
      if (!frame && !isCertain) return undefined;
      return storeAnswer(app, run, { frame, answer: await accept(frame), write });
    }),
  );
}

interface AnswerOptions {
  frame: LiveFrame | undefined;
  answer: FlowResume;
  write: TransactionRunner;
}

/** Keeps the run locked until the answer is stored. */
async function storeAnswer(
  app: App,
  run: FlowRun,
  { frame, answer, write }: AnswerOptions,
): Promise<{ written: Promise<boolean> }> {
  const plan = new Plan(app, run);
  const work = async (tx: Tx) => {
    await tx.insert(flowResumes).values(answer);
    return true;
  };
  run.answer = answer;
  try {
    await abandonOnError(plan, async () => {
      const event = frame && (await findVerdict(app, run, frame));
      if (event) await applyEvent(app, run, plan, frame, event);
    });
    const written = abandonOnError(plan, () => writePlan(app, run, plan, { work, write }));
    await written;
    return { written };
  } finally {
    run.answer = undefined;
  }
}

/**
 * Cancels a running flow with all its jobs.
 * @param end `result` is JSON text
 * @param write runs the transaction; default: the database's own
 * @returns false if it had already ended
 */
export async function cancelFlow(
  app: App,
  job: Job,
  { result, ...canceled }: { result: string; canceled_by: string; canceled_reason: string },
  write: TransactionRunner = app.db.write,
): Promise<boolean> {
  if (!isFrame(job.kind)) throw new Internal(`job ${job.id} is not a flow`);
  const root_id = job.flow_step_id === null ? job.id : (job.root_job ?? job.id);
  const work = async (tx: Tx) => {
    const runs = and(eq(jobs.id, job.id), eq(jobs.state, "running"));
    return (await tx.update(jobs).set(canceled).where(runs).returning({ id: jobs.id })).length > 0;
  };
  return commitTransition(app, root_id, { work, write }, (run) => {
    const frame = run.frames.get(job.id);
    return frame && ((plan) => stopFrame(app, run, plan, { frame, status: "canceled", result }));
  });
}
