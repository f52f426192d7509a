/**
 * The life of a job, told once:
 *
 *     queued ──claim──► running ──finish──► completed
 *        ▲                 │
 *        └── put back ─────┘   (drain, lost worker)
 *     queued ──cancel──► completed
 *
 * Every update names the state it leaves; an update of no row means that somebody else was first.
 */
export const TRANSITIONS = {
  queued: ["running", "completed"],
  running: ["completed", "queued"],
  completed: [],
} as const satisfies Record<string, readonly string[]>;

export type JobState = keyof typeof TRANSITIONS;
export type JobStatus = "success" | "failure" | "canceled" | "skipped";
/** `identity` returns its arguments and `noop` nothing: neither takes a subprocess. */
export type JobKind = "script" | "preview" | "dependencies" | "identity" | "noop";

/** Times a job may lose its worker before it is given up as failed. */
export const MAX_ATTEMPTS = 3;
