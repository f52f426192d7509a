/**
 * Wake times of frames (`wake_at`): sleeps, retries, approvals and deadlines. Values in 1970 mark work that is due
 * immediately, and distinguish it from real times.
 */

import { memoizePerApp } from "../../../../lib/async/per-app.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { FlowRun } from "../live-run.ts";

/** Marks a completed frame below which jobs are still to be stopped. */
export const CLEANUP_TIME = new Date(0);
/** Real wake times are at or after this one. */
export const EARLIEST_WAKE_TIME = new Date(Date.UTC(1971, 0));

/**
 * Returns the wake time of a frame whose start a large plan has postponed. Runs take turns: the one with the fewest
 * turns so far comes first.
 */
export function computeNextImmediateTurn(run: FlowRun): Date {
  run.turns = Math.min(run.turns + 1, EARLIEST_WAKE_TIME.getTime() - 1);
  return new Date(run.turns);
}

/** The wake-up timer of this process; undefined if the process runs no jobs. */
export const getWakeUpTimer = memoizePerApp<App, { wakeAt: ((moment: Date) => void) | undefined }>(() => ({
  wakeAt: undefined,
}));

/** Sets the wake-up timer to at most `moment`. Does nothing in a process that runs no jobs. */
export function wakeFlowsAt(app: App, moment: Date): void {
  getWakeUpTimer(app).wakeAt?.(moment);
}
