/**
 * States of a job:
 *
 *     queued ──claim──► running ──complete──► completed
 *        ▲                 │
 *        └──── requeue ────┘   (drain, lost worker)
 *     queued ──cancel──► completed
 *     queued ──workspace is renamed──► held ──rename is done──► queued
 *
 *     planned ──cancel──► completed
 *
 * `planned` is the next run of a schedule, which is shown and never claimed: when it is due, the job that runs takes its
 * place and id.
 *
 * Every update names the state it leaves; if it affects no row, another update came first.
 */
export const TRANSITIONS = {
  planned: ["completed"],
  queued: ["running", "completed", "held"],
  running: ["completed", "queued", "held"],
  held: ["queued", "completed"],
  completed: [],
} as const satisfies Record<string, readonly string[]>;

export type JobState = keyof typeof TRANSITIONS;
export type JobStatus = "success" | "failure" | "canceled" | "skipped";
/** `identity` returns its arguments, and `noop` returns nothing; neither needs a process. */
export type JobKind =
  | "script"
  | "preview"
  | "dependencies"
  | "flowdependencies"
  | "identity"
  | "noop"
  /**
   * A deployed flow, a flow preview, a script that a trigger retries, the modules of a loop or branch, and an inline
   * script of a flow.
   */
  | "flow"
  | "flowpreview"
  | "singlestepflow"
  | "flownode"
  | "flowscript";

/** Frames: jobs that wait for their steps. No worker holds them while they run. */
export const FRAME_KINDS = ["flow", "flowpreview", "singlestepflow", "flownode"] as const satisfies JobKind[];

export function isFrame(kind: JobKind): boolean {
  return (FRAME_KINDS as readonly JobKind[]).includes(kind);
}

/** Whether a job is a flow: a frame with a flow of its own. */
export function isFlow(kind: JobKind): boolean {
  return isFrame(kind) && kind !== "flownode";
}

/** Kinds of the runs of deployed scripts. */
export const SCRIPT_RUN_KINDS = ["script", "singlestepflow"] as const satisfies JobKind[];

export function isScriptRun(kind: JobKind): boolean {
  return (SCRIPT_RUN_KINDS as readonly JobKind[]).includes(kind);
}

/** Kinds of the runs of deployed scripts and flows. */
export const RUN_KINDS = [...SCRIPT_RUN_KINDS, "flow"] as const satisfies JobKind[];

/** A job that loses its worker while running fails after this many attempts. */
export const MAX_ATTEMPTS = 3;
/**
 * A job fails after its worker was lost this often in total, even if it never ran for long: the job itself may crash
 * its workers.
 */
export const MAX_LOSSES = 20;
