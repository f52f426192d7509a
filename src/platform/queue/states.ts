/**
 * The life of a job, told once:
 *
 *     queued ──claim──► running ──finish──► completed
 *        ▲                 │
 *        └── put back ─────┘   (drain, lost worker)
 *     queued ──cancel──► completed
 *     queued ──its workspace gets another id──► held ──it has it──► queued
 *
 * Every update names the state it leaves; an update of no row means that somebody else was first.
 */
export const TRANSITIONS = {
  queued: ["running", "completed", "held"],
  running: ["completed", "queued", "held"],
  held: ["queued", "completed"],
  completed: [],
} as const satisfies Record<string, readonly string[]>;

export type JobState = keyof typeof TRANSITIONS;
export type JobStatus = "success" | "failure" | "canceled" | "skipped";
/** `identity` returns its arguments and `noop` nothing: neither takes a subprocess. */
export type JobKind =
  | "script"
  | "preview"
  | "dependencies"
  | "flowdependencies"
  | "identity"
  | "noop"
  /** A deployed flow, one that is not, the modules inside a loop or branch of one, and a script written in one. */
  | "flow"
  | "flowpreview"
  | "flownode"
  | "flowscript";

/** Jobs that wait for others instead of running anything: no worker holds them while they run. */
export const FRAME_KINDS = ["flow", "flowpreview", "flownode"] as const satisfies JobKind[];

export function isFrame(kind: JobKind): boolean {
  return (FRAME_KINDS as readonly JobKind[]).includes(kind);
}

/** A job that loses its worker while it runs is given up as failed the third time. */
export const MAX_ATTEMPTS = 3;
/**
 * One whose worker was lost that often is given up too, though it was never seen to run for a moment: it may be what ends
 * its workers at once.
 */
export const MAX_LOSSES = 20;
