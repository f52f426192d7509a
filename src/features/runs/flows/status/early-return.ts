/** Early results: synchronous calls of a flow get them before the flow has ended. */
import type { App } from "../../../../platform/app/context.ts";
import { isFlow } from "../../../../platform/queue/states.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { readResultText } from "../drive/expression-scope.ts";
import { findStep } from "../drive/find-step.ts";
import { createEmptyRun, loadFrame } from "../live-run.ts";

/**
 * Finds the result of the step that a flow names as its `early_return`.
 * @returns JSON text; undefined for other jobs, and until that step has completed
 */
export async function findEarlyResult(app: App, job: Job): Promise<string | undefined> {
  if (!isFlow(job.kind)) return undefined;
  const { early_return } = (await loadFrame(app, job, undefined)).flow.value;
  const found = early_return === undefined ? undefined : await findStep(app, job.id, early_return);
  if (!found?.own.result) return undefined;
  const { modules, step, waits } = found.state;
  const index = modules.indexOf(found.own);
  // If the flow stopped or failed at that step, its final result is the response.
  if (step < index || (step === index && !waits)) return undefined;
  return readResultText(app, createEmptyRun(job.id), found.own.result);
}
