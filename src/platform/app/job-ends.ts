/** Handlers of features for completed jobs, called in the transaction that stores the completion. */

import type { Tx } from "../../database/database.ts";
import type { Awaitable } from "../../lib/async/awaitable.ts";
import { perApp } from "../../lib/async/per-app.ts";
import type { JobStatus } from "../queue/states.ts";
import type { Job } from "../queue/tables.ts";
import type { App } from "./context.ts";

/** The fields of a completed job that handlers use. */
/** `state`: the one that it leaves. */
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
  /** A job ends. */
  jobEnded?: JobEndListener;
}

const listenersOf = perApp<App, readonly JobEndListener[]>(({ features }) =>
  features.flatMap(({ on }) => on?.jobEnded ?? []),
);

/** @returns what is to be done in the transaction that stores the end; undefined for nothing */
export function followUpOf(app: App, job: EndedJob, status: JobStatus): FollowUp | undefined {
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
 * Adds to what stores a job's end what follows from it.
 * @param work false: the job ended elsewhere, and nothing follows
 */
export function withFollowUp(
  app: App,
  job: EndedJob,
  status: JobStatus,
  work: (tx: Tx) => Awaitable<boolean>,
): (tx: Tx) => Awaitable<boolean> {
  const followUp = followUpOf(app, job, status);
  if (!followUp) return work;
  return async (tx) => {
    if (!(await work(tx))) return false;
    await followUp(tx);
    return true;
  };
}
