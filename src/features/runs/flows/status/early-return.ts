/** The result that synchronous calls of a flow are answered with before the flow has ended. */
import type { App } from "../../../../platform/app/context.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { findStep } from "../drive/find-step.ts";
import { resultText } from "../drive/scope.ts";
import { emptyRun, reviveFrame } from "../run.ts";

/** @returns JSON text; undefined for any job but a flow that has gone on, or waits, after its `early_return` */
export async function earlyResult(app: App, job: Job): Promise<string | undefined> {
  if (job.kind !== "flow" && job.kind !== "flowpreview") return undefined;
  const { early_return } = (await reviveFrame(app, job, undefined)).flow.value;
  const found = early_return === undefined ? undefined : await findStep(app, job.id, early_return);
  if (!found?.own.result) return undefined;
  const { modules, step, waits } = found.state;
  const index = modules.indexOf(found.own);
  // Where the flow stopped or failed at that step, its end is the answer.
  if (step < index || (step === index && !waits)) return undefined;
  return resultText(app, emptyRun(job.id), found.own.result);
}
