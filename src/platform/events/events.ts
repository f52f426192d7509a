/**
 * What has finished comes back up only as a notification: waiters, streams, flows and events subscribe here. In-process
 * fan-out; a subscriber never holds up the publisher.
 */
import { JobTail } from "./tail.ts";

/** The end of a job, published after its commit. */
export interface JobFinished {
  id: string;
  workspace_id: string;
  status: "success" | "failure" | "canceled" | "skipped";
  /** JSON text. */
  result: string;
}

/** A flow's result for synchronous calls, while the flow goes on. */
export interface EarlyResult {
  id: string;
  workspace_id: string;
  /** JSON text. */
  result: string;
}

export interface Events {
  /** Calls back once, when the job has ended. @returns stops listening */
  onFinished(job_id: string, listener: (end: JobFinished) => void): () => void;
  /** Calls back when a flow that goes on has the result that synchronous calls are answered with. @returns stops listening */
  onEarly(job_id: string, listener: (result: EarlyResult) => void): () => void;
  publishEarly(result: EarlyResult): void;
  /** Calls back for every job that ends. @returns stops listening */
  onAnyFinished(listener: (end: JobFinished) => void): () => void;
  publishFinished(end: JobFinished): void;
  /** Tells those who wait for this job alone: it ended elsewhere, and was counted there. */
  tellFinished(end: JobFinished): void;
  /** Whether anybody here waits for the job's end. */
  isAwaited(job_id: string): boolean;
  /** The jobs whose ends are waited for here. */
  awaited(): string[];
  /**
   * Calls back when the job begins or stops running here, and when it has said something: once a turn of the event
   * loop, however much that was. @returns stops listening
   */
  onChange(job_id: string, listener: () => void): () => void;
  /** The live log and stream of a job that runs here; undefined when none does. */
  tail(job_id: string): JobTail | undefined;
  openTail(job_id: string): JobTail;
  /** The job no longer runs here, and has not ended either. */
  closeTail(job_id: string): void;
  /** The job, which runs elsewhere, has said something. */
  noteChange(job_id: string): void;
}

export function createEvents(): Events {
  const early = new Map<string, Set<(result: EarlyResult) => void>>();
  const finished = new Map<string, Set<(end: JobFinished) => void>>();
  const changing = new Map<string, Set<(change: undefined) => void>>();
  const any = new Set<(end: JobFinished) => void>();
  const tails = new Map<string, JobTail>();
  const changed = new Set<string>();

  /** A job that nobody follows costs one look. */
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
    tellFinished,
    isAwaited: (job_id) => finished.has(job_id),
    awaited: () => [...finished.keys()],
    noteChange: change,
    tail: (job_id) => tails.get(job_id),
    openTail(job_id) {
      const tail = new JobTail(() => change(job_id));
      tails.set(job_id, tail);
      change(job_id);
      return tail;
    },
  };
}

function subscribe<T>(
  map: Map<string, Set<(value: T) => void>>,
  key: string,
  listener: (value: T) => void,
): () => void {
  let listeners = map.get(key);
  if (!listeners) {
    listeners = new Set();
    map.set(key, listeners);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && map.get(key) === listeners) map.delete(key);
  };
}
