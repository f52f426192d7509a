/** Where in which flow a job stands: what its code is told of that, and whether it speaks for the flow. */
import { eq } from "drizzle-orm";
import type { FlowValue } from "../../../../engines/flow-engine/types.ts";
import { parseFields } from "../../../../lib/json/json.ts";
import type { App } from "../../../../platform/app/context.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { runnable } from "../../../code/flows/value/runnable.ts";
import type { StoredFlow } from "../../../code/flows/value/tree.ts";
import { flowPathOf, flowValueOf } from "../../../code/flows/versions.ts";
import type { FlowPlace } from "../../job/environment.ts";
import { leafOf, moduleIndex } from "../modules.ts";

/** Of any other job than a flow's step: undefined. */
export async function placeInFlow(app: App, job: Job): Promise<FlowPlace | undefined> {
  if (job.flow_step_id === null) return undefined;
  const { value, path } = await flowAround(app, job);
  const module = moduleIndex(value).get(job.flow_step_id);
  const step = module ? leafOf(module).id : job.flow_step_id;
  return {
    path,
    step,
    streams_to: isLast(job, value) ? job.parent_job! : undefined,
    shares: value.same_worker ?? false,
  };
}

/** One that is tried again may begin its stream again: it is told with the flow's result. */
function isLast({ flow_step_id, parent_job, root_job }: Job, { modules }: FlowValue): boolean {
  const last = modules.at(-1);
  if (last?.id !== flow_step_id || parent_job !== root_job || last.retry) return false;
  return last.value.type === "rawscript" || last.value.type === "script";
}

async function flowAround(app: App, job: Job): Promise<{ value: FlowValue; path: string | undefined }> {
  const { workspace_id, flow_version } = job;
  if (flow_version !== null) {
    const value = await flowValueOf(app, workspace_id, flow_version);
    return { value, path: await flowPathOf(app, workspace_id, flow_version) };
  }
  // Flows that are not deployed are tried now and then: theirs is read from their job.
  for (let id = job.parent_job; id !== null; ) {
    const [row] = await app.db.read
      .select({ parent_job: jobs.parent_job, raw_flow: jobs.raw_flow, path: jobs.script_path })
      .from(jobs)
      .where(eq(jobs.id, id));
    if (row?.raw_flow)
      return { value: runnable(parseFields(row.raw_flow) as StoredFlow), path: row.path ?? undefined };
    id = row?.parent_job ?? null;
  }
  return { value: { modules: [] }, path: undefined };
}
