/**
 * Where submitters and the worker of one process meet. Submitting never polls: a stored job wakes the worker, and a
 * submitter that finds room reserves it first, stores its job as running already and hands it over: one commit less.
 */
import type { Job } from "./tables.ts";

export interface Consumer {
  /** For how many more jobs of this tag there is room right now. */
  room(tag: string): number;
  /** Takes a job that is stored as running under this worker's name; one that is bound stays here, however long it waits. */
  take(job: Job, isBound: boolean): void;
  /** There may be queued jobs that are due. */
  wake(): void;
  /** Whether this worker has the job, running or about to. */
  has(job_id: string): boolean;
  /** Stops a job of this worker if it has it. */
  cancel(job_id: string): void;
}

/** Room in the worker for jobs that are being stored. Disposing it gives back what no job was handed over for. */
export interface Reservation extends Disposable {
  /** For how many jobs there is room, at most as many as were asked for. */
  readonly places: number;
  /** Hands over a job that is stored as running: it takes one of the places. */
  hand(job: Job): void;
}

export interface Queue {
  /** The name that rows of this process's worker carry. */
  readonly worker: string;
  /** No process would run what this one leaves queued: a command works by itself. */
  readonly alone: boolean;
  /** Whether there is a worker in this process. */
  hasWorker(): boolean;
  attach(consumer: Consumer | undefined): void;
  /** Reserves room for as many jobs of this tag as there is. @param most how many are wanted; 1 when left out */
  reserve(tag: string, most?: number): Reservation;
  /** Hands over a job that no other worker could run, whether there is room or not. */
  handAnyway(job: Job): void;
  /** There may be queued jobs that are due: said to the worker of this process, and to all others. */
  wake(): void;
  /** The same, said to the worker of this process alone. */
  look(): void;
  has(job_id: string): boolean;
  /** Stops a job, whichever process's worker has it. */
  cancel(job_id: string): void;
  /** Stops a job that this process's worker has. */
  cancelHere(job_id: string): void;
  /** Reserved and not yet handed over. */
  reserved(): number;
}

/** The workers of other processes. */
export interface OtherWorkers {
  wake(): void;
  cancel(job_id: string): void;
}

export function createQueue(worker: string, others: OtherWorkers, alone = false): Queue {
  let consumer: Consumer | undefined;
  let reserved = 0;
  return {
    worker,
    alone,
    hasWorker: () => consumer !== undefined,
    attach(next) {
      consumer = next;
    },
    reserve(tag, most = 1) {
      let left = Math.min(most, Math.max(0, consumer?.room(tag) ?? 0));
      reserved += left;
      return {
        get places() {
          return left;
        },
        hand(job) {
          if (left > 0) {
            left--;
            reserved--;
          }
          consumer?.take(job, false);
        },
        [Symbol.dispose]() {
          if (left === 0) return;
          reserved -= left;
          left = 0;
          consumer?.wake();
        },
      };
    },
    handAnyway: (job) => consumer?.take(job, true),
    wake() {
      consumer?.wake();
      others.wake();
    },
    look: () => consumer?.wake(),
    has: (job_id) => consumer?.has(job_id) ?? false,
    cancel(job_id) {
      if (consumer?.has(job_id)) consumer.cancel(job_id);
      else others.cancel(job_id);
    },
    cancelHere: (job_id) => consumer?.cancel(job_id),
    reserved: () => reserved,
  };
}
