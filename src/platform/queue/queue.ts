/**
 * Hands jobs from submitters to this process's worker without polling. A submitter reserves a slot, inserts its job as
 * `running`, and dispatches it after the commit, which saves the claim transaction. Without a free slot the job is
 * inserted as `queued` and the worker is woken.
 */
import type { Job } from "./tables.ts";

export interface LocalWorker {
  /** Returns the number of free slots for jobs with this tag. */
  freeSlots(tag: string): number;
  /**
   * Accepts a job already stored as running under this worker's name. A bound job stays with this worker, however long
   * it waits for a slot.
   */
  accept(job: Job, isBound: boolean): void;
  /** Tells the worker that queued jobs may be due. */
  wake(): void;
  /** Whether this worker holds the job, running or about to run. */
  has(job_id: string): boolean;
  /** Cancels a job if this worker holds it. */
  cancel(job_id: string): void;
}

/** Slots reserved for jobs that are being stored. Disposing releases the unused ones. */
export interface Reservation extends Disposable {
  /** Number of reserved slots left, at most as many as requested. */
  readonly slots: number;
  /** Dispatches a job stored as running, using one of the slots. */
  dispatch(job: Job): void;
}

export interface Queue {
  /** Name of this process's worker in job rows. */
  readonly worker: string;
  /** True if no other process would run queued jobs: a CLI command runs its jobs itself. */
  readonly runsAlone: boolean;
  /** Whether there is a worker in this process. */
  hasWorker(): boolean;
  attachWorker(consumer: LocalWorker | undefined): void;
  /** Reserves up to `limit` free slots for jobs with this tag. @param limit default 1 */
  reserve(tag: string, limit?: number): Reservation;
  /** Dispatches a job that no other worker can run, even without a free slot. */
  dispatchBound(job: Job): void;
  /** Wakes the workers of this and all other processes: queued jobs may be due. */
  wake(): void;
  /** Wakes only the worker of this process. */
  wakeLocal(): void;
  has(job_id: string): boolean;
  /** Cancels a job in whichever process runs it. */
  cancel(job_id: string): void;
  /** Cancels a job that this process's worker holds. */
  cancelLocal(job_id: string): void;
  /** Number of slots reserved and not yet used. */
  reservedSlots(): number;
}

/** Workers of other processes. */
export interface RemoteWorkers {
  wake(): void;
  cancel(job_id: string): void;
}

export function createQueue(worker: string, others: RemoteWorkers, alone = false): Queue {
  let consumer: LocalWorker | undefined;
  let reserved = 0;
  return {
    worker,
    runsAlone: alone,
    hasWorker: () => consumer !== undefined,
    attachWorker(next) {
      consumer = next;
    },
    reserve(tag, limit = 1) {
      let left = Math.min(limit, Math.max(0, consumer?.freeSlots(tag) ?? 0));
      reserved += left;
      return {
        get slots() {
          return left;
        },
        dispatch(job) {
          if (left > 0) {
            left--;
            reserved--;
          }
          consumer?.accept(job, false);
        },
        [Symbol.dispose]() {
          if (left === 0) return;
          reserved -= left;
          left = 0;
          consumer?.wake();
        },
      };
    },
    dispatchBound: (job) => consumer?.accept(job, true),
    wake() {
      consumer?.wake();
      others.wake();
    },
    wakeLocal: () => consumer?.wake(),
    has: (job_id) => consumer?.has(job_id) ?? false,
    cancel(job_id) {
      if (consumer?.has(job_id)) consumer.cancel(job_id);
      else others.cancel(job_id);
    },
    cancelLocal: (job_id) => consumer?.cancel(job_id),
    reservedSlots: () => reserved,
  };
}
