/** The result that synchronous calls of a flow are answered with before the flow has ended. */
import { eq } from "drizzle-orm";
import type { App } from "../../../context.ts";
import type { FrameState } from "../../../flow-engine/state.ts";
import type { Job } from "../../../queue/tables.ts";
import { flowFrames } from "../tables.ts";
import { emptyRun, reviveFrame } from "./run.ts";
import { resultText } from "./scope.ts";

/** @returns JSON text; undefined for any job but a flow that has gone on, or waits, after its `early_return` */
export async function earlyResult(app: App, job: Job): Promise<string | undefined> {
  if (job.kind !== "flow" && job.kind !== "flowpreview") return undefined;
  const [row] = await app.db.read.select().from(flowFrames).where(eq(flowFrames.job_id, job.id));
  if (!row) return undefined;
  const { early_return } = (await reviveFrame(app, job, undefined)).frame;
  const { modules, step, waits } = row.state as FrameState;
  const index = modules.findIndex((module) => module?.id === early_return);
  const result = modules[index]?.result;
  // Where the flow stopped or failed at that step, its end is the answer.
  if (!result || step < index || (step === index && !waits)) return undefined;
  return resultText(app, emptyRun(job.id), result);
}
