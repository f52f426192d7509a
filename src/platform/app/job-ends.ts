/** Handlers of features for completed jobs. They run in the transaction that stores the completion. */

import type { Tx } from "../../database/database.ts";
import type { Awaitable } from "../../lib/async/awaitable.ts";
import { memoizePerApp } from "../../lib/async/per-app.ts";
import type { JobStatus } from "../queue/states.ts";
import type { Job } from "../queue/tables.ts";
import type { App } from "./context.ts";

/** The fields of a completed job that handlers use. */
/** A completed job. `state` is its state before the completion. */
export type EndedJob = Pick<
  Job,
  "id" | "workspace_id" | "kind" | "state" | "flow_step_id" | "parent_job" | "trigger_kind" | "schedule_path"
>;

/** Stores consequences of a job's completion, in the transaction that stores the completion. */
export type FollowUp = (tx: Tx) => Promise<void>;

/**
 * Called for every completion of a job, before it is stored.
 * @returns work for the transaction that stores it; undefined if there is none, as for most jobs
 */
export type JobEndListener = (app: App, job: EndedJob, status: JobStatus) => FollowUp | undefined;

export interface JobEvents {
  /** Called when a job completes. */
  jobEnded?: JobEndListener;
}

const listenersOf = memoizePerApp<App, readonly JobEndListener[]>(({ features }) =>
  features.flatMap(({ on }) => on?.jobEnded ?? []),
);

/** Returns the work to do in the transaction that stores the completion; undefined if there is none. */
export function collectFollowUp(app: App, job: EndedJob, status: JobStatus): FollowUp | undefined {
  let all: FollowUp | undefined;
  for (const listener of listenersOf(app)) {
    const followUp = listener(app, job, status);
    all = all && followUp ? inOrder(all, followUp) : (all ?? followUp);
  }
  return all;
}

const inOrder =
  (first: FollowUp, second: FollowUp): FollowUp =>
  async (tx) => {
    await first(tx);
    await second(tx);
  };

/**
 * Combines storing a completion with the features' follow-up work.
 * @param work returns false if the job was completed elsewhere; then no follow-up work runs
 */
export function withFollowUp(
  app: App,
  job: EndedJob,
  status: JobStatus,
  work: (tx: Tx) => Awaitable<boolean>,
): (tx: Tx) => Awaitable<boolean> {
  const followUp = collectFollowUp(app, job, status);
  if (!followUp) return work;
  return async (tx) => {
    if (!(await work(tx))) return false;
    await followUp(tx);
    return true;
  };
}
