/**
 * When frames go on by themselves (`wake_at`). Real moments are those of sleeps, retries, approvals and deadlines; the
 * first days of 1970 stand for work that is due at once and would otherwise be in the way of them.
 */

import { perApp } from "../../../../lib/async/per-app.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { FlowRun } from "../run.ts";

/** Of a frame that has ended: what is below it is still to be stopped. */
export const STOPS_BELOW = new Date(0);
/** Real moments are at this or later. */
export const FIRST_REAL = new Date(Date.UTC(1971, 0));

/** For a frame that a large plan leaves to begin by itself: runs take turns, whoever has had fewest goes first. */
export function nextTurn(run: FlowRun): Date {
  run.turns = Math.min(run.turns + 1, FIRST_REAL.getTime() - 1);
  return new Date(run.turns);
}

/** Looks for frames that are due at a moment; undefined in a process that runs no jobs. */
export const wakerOf = perApp<App, { wakeAt: ((moment: Date) => void) | undefined }>(() => ({
  wakeAt: undefined,
}));

/** Makes sure that frames are looked at when this moment comes; does nothing in a process that runs no jobs. */
export function wakeFlowsAt(app: App, moment: Date): void {
  wakerOf(app).wakeAt?.(moment);
}
