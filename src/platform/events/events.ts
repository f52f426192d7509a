/**
 * In-process notifications about jobs: waiters, streams, flows and webhooks subscribe here. A slow subscriber never
 * blocks the publisher.
 */

import { TransientMap } from "../../lib/collections/transient.ts";
import { JobTail } from "./job-tail.ts";

/** A job's completion, published after its commit. */
export interface JobFinished {
  id: string;
  workspace_id: string;
  status: "success" | "failure" | "canceled" | "skipped";
  /** JSON text. */
  result: string;
}

/** A flow's early result for synchronous calls, while the flow continues. */
export interface EarlyResult {
  id: string;
  workspace_id: string;
  /** JSON text. */
  result: string;
}

export interface Events {
  /** Subscribes to the job's completion; called once. @returns unsubscribes */
  onFinished(job_id: string, listener: (end: JobFinished) => void): () => void;
  /** Subscribes to the flow's early result. @returns unsubscribes */
  onEarly(job_id: string, listener: (result: EarlyResult) => void): () => void;
  publishEarly(result: EarlyResult): void;
  /** Subscribes to all completions. @returns unsubscribes */
  onAnyFinished(listener: (end: JobFinished) => void): () => void;
  publishFinished(end: JobFinished): void;
  /** Notifies only the waiters of this job: another server completed and counted it. */
  notifyWaiters(end: JobFinished): void;
  /** Whether anyone in this process waits for the job. */
  isAwaited(job_id: string): boolean;
  /** Lists the jobs that are waited for in this process. */
  awaitedJobs(): string[];
  /**
   * Subscribes to changes: the job starts or stops running here, or writes output. Called at most once per turn of the
   * event loop.
   * @returns unsubscribes
   */
  onChange(job_id: string, listener: () => void): () => void;
  /** Returns the live log and stream of a job that runs here, else undefined. */
  findTail(job_id: string): JobTail | undefined;
  /** Opens the tail of a job that starts here. @param header returns the beginning of its log */
  openTail(job_id: string, header: () => string): JobTail;
  /** Closes the tail of a job that stopped running here without completing. */
  closeTail(job_id: string): void;
  /** Publishes that a job on another server has written output. */
  publishChange(job_id: string): void;
}

/** Listeners by job; most have one. */
type Listeners<T> = TransientMap<readonly ((value: T) => void)[]>;

export function createEvents(): Events {
  const early: Listeners<EarlyResult> = new TransientMap();
  const finished: Listeners<JobFinished> = new TransientMap();
  const changing: Listeners<undefined> = new TransientMap();
  const any = new Set<(end: JobFinished) => void>();
  const tails = new TransientMap<JobTail>();
  const changed = new Set<string>();

  /** Costs one lookup for jobs without subscribers. */
  const change = (job_id: string) => {
    if (!changing.has(job_id)) return;
    if (changed.size === 0) setImmediate(tellChanges);
    changed.add(job_id);
  };
  const tellChanges = () => {
    const told = [...changed];
    changed.clear();
    for (const job_id of told) for (const listener of changing.get(job_id) ?? []) listener(undefined);
  };
  const closeTail = (job_id: string) => {
    if (tails.delete(job_id)) change(job_id);
  };
  const tellFinished = (end: JobFinished) => {
    closeTail(end.id);
    const listeners = finished.get(end.id);
    if (!listeners) return;
    finished.delete(end.id);
    for (const listener of listeners) listener(end);
  };
  return {
    closeTail,
    onEarly: (job_id, listener) => subscribe(early, job_id, listener),
    publishEarly(result) {
      for (const listener of early.get(result.id) ?? []) listener(result);
    },
    onFinished: (job_id, listener) => subscribe(finished, job_id, listener),
    onChange: (job_id, listener) => subscribe(changing, job_id, listener),
    onAnyFinished(listener) {
      any.add(listener);
      return () => any.delete(listener);
    },
    publishFinished(end) {
      tellFinished(end);
      for (const listener of any) listener(end);
    },
    notifyWaiters: tellFinished,
    isAwaited: (job_id) => finished.has(job_id),
    awaitedJobs: () => finished.keys(),
    publishChange: change,
    findTail: (job_id) => tails.get(job_id),
    openTail(job_id, header) {
      const tail = new JobTail(() => change(job_id), header);
      tails.set(job_id, tail);
      change(job_id);
      return tail;
    },
  };
}

/** Adds a listener. @returns unsubscribes; a list that is being called is left as it is */
function subscribe<T>(map: Listeners<T>, key: string, listener: (value: T) => void): () => void {
  const others = map.get(key);
  map.set(key, others ? [...others, listener] : [listener]);
  return () => {
    const rest = map.get(key)?.filter((each) => each !== listener);
    if (rest === undefined) return;
    if (rest.length === 0) map.delete(key);
    else map.set(key, rest);
  };
}
