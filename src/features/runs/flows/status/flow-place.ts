/** The position of a job in its flow, for its environment and for forwarding its stream. */
import { eq } from "drizzle-orm";
import type { FlowValue } from "../../../../engines/flow-engine/types.ts";
import { parseSchemaJson } from "../../../../lib/json/json.ts";
import type { App } from "../../../../platform/app/context.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { toRunnableFlow } from "../../../code/flows/value/to-runnable.ts";
import type { StoredFlow } from "../../../code/flows/value/walk-steps.ts";
import { findFlowPath, getFlowValue } from "../../../code/flows/versions.ts";
import type { FlowPlace } from "../../job/environment.ts";
import { findLeafModule, indexModules } from "../modules.ts";

/** Finds the place of a step; undefined for a job that is not a step. */
export async function findFlowPlace(app: App, job: Job): Promise<FlowPlace | undefined> {
  if (job.flow_step_id === null) return undefined;
  const { value, path } = await flowAround(app, job);
  const module = indexModules(value).get(job.flow_step_id);
  const step = module ? findLeafModule(module).id : job.flow_step_id;
  return {
    path,
    step,
    stream_job: isLastStep(job, value) ? job.parent_job! : undefined,
    sharesFolder: value.same_worker ?? false,
  };
}

/** Whether the step's stream may be forwarded. A step with retries may stream twice, so its stream is not. */
function isLastStep({ flow_step_id, parent_job, root_job }: Job, { modules }: FlowValue): boolean {
  const last = modules.at(-1);
  if (last?.id !== flow_step_id || parent_job !== root_job || last.retry) return false;
  return last.value.type === "rawscript" || last.value.type === "script";
}

async function flowAround(app: App, job: Job): Promise<{ value: FlowValue; path: string | undefined }> {
  const { workspace_id, flow_version } = job;
  if (flow_version !== null) {
    const value = await getFlowValue(app, workspace_id, flow_version);
    return { value, path: await findFlowPath(app, workspace_id, flow_version) };
  }
  // An undeployed flow is stored with its job only.
  for (let id = job.parent_job; id !== null; ) {
    const [row] = await app.db.read
      .select({ parent_job: jobs.parent_job, raw_flow: jobs.raw_flow, path: jobs.script_path })
      .from(jobs)
      .where(eq(jobs.id, id));
    if (row?.raw_flow)
      return {
        value: toRunnableFlow(parseSchemaJson(row.raw_flow) as StoredFlow),
        path: row.path ?? undefined,
      };
    id = row?.parent_job ?? null;
  }
  return { value: { modules: [] }, path: undefined };
}
