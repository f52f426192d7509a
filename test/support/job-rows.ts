/** Rows of jobs as if they had run or waited, for tests of lists. */
import type { NewJob } from "../../src/platform/queue/tables.ts";

export const HOUR = 3_600_000;

/** Due so far in the future that it never runs. */
export const FUTURE = new Date(Date.now() + 1000 * HOUR);

/** Ids in numerical order. */
export const idOf = (n: number, family = "0190") =>
  `${family}0000-0000-7000-8000-${String(n).padStart(12, "0")}`;

/** A job of the admin, created at a given time, started an hour later, with a duration of one hour. */
export function completedRow(id: string, made: Date, more: Partial<NewJob> = {}): NewJob {
  const later = (hours: number) => new Date(made.getTime() + hours * HOUR);
  return {
    id,
    workspace_id: "acme",
    kind: "script",
    state: "completed",
    status: "success",
    created_by: "admin",
    permissioned_as: "u/admin",
    email: "admin_acme@example.org",
    created_at: made,
    scheduled_for: made,
    started_at: later(1),
    completed_at: later(2),
    duration_ms: HOUR,
    script_path: "u/admin/one",
    script_hash: "00000000000000aa",
    language: "bun",
    tag: "bun",
    args: "{}",
    result: "null",
    worker: "host-1-abcde",
    trigger_kind: "webhook",
    ...more,
  };
}

const unfinished = { status: null, completed_at: null, duration_ms: null, result: null } as const;

/** Columns of a job that another server runs. */
export const RUNNING = { ...unfinished, state: "running", last_ping: new Date() } as const;

/** Columns of a queued job. */
export const QUEUED = {
  ...unfinished,
  state: "queued",
  worker: null,
  started_at: null,
  scheduled_for: FUTURE,
} as const;
