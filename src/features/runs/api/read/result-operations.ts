/** Reads the results of a flow run's steps. */
import { desc, eq, inArray } from "drizzle-orm";
import { BadRequest, NotFound } from "../../../../lib/errors.ts";
import { parseJson } from "../../../../lib/json/json.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { App } from "../../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { isFlow } from "../../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { readResultText } from "../../flows/drive/expression-scope.ts";
import { findResultInDatabase } from "../../flows/drive/find-step.ts";
import { createEmptyRun } from "../../flows/live-run.ts";
import { findFrame, readFlowStatus } from "../../flows/status/status.ts";
import { JobRecord, redactRecord, toJobRecord } from "../../job/records.ts";
import { getJob } from "../../submit/find-and-cancel.ts";
import { canSeeJob } from "../../submit/job-rights.ts";
import { pickByPath } from "./completed-operations.ts";

/** Maximum jobs of a run in one response. */
const MAX_LISTED_JOBS = 1_000;

const getResultById = operation({
  name: "resultById",
  method: "GET",
  path: "/w/{workspace}/jobs/result_by_id/{flow_job_id}/{node_id}",
  access: "member",
  scope: { domain: "jobs", action: "read" },
  summary: "Read the result of a step of a flow run; of a step that ran several times, the newest",
  query: z.object({ json_path: z.string().optional() }),
  responds: responds.json(z.unknown(), "the bare result"),
  run: async (ctx, { workspace, flow_job_id, node_id, query }) => {
    const job = await getJob(ctx, workspace, flow_job_id);
    const modules = (await findFrame(ctx.app, job))?.flow.modules;
    const found = modules && (await findResultInDatabase(ctx.app, job.id, node_id, modules));
    if (!found) throw new NotFound(`result of step ${node_id} in run ${job.id}`);
    const result: unknown = parseJson(await readResultText(ctx.app, createEmptyRun(job.id), found));
    return query.json_path ? pickByPath(result, query.json_path) : result;
  },
});

/** Lists the steps of a run that have begun, newest first. */
async function listRunJobs(app: App, root: string): Promise<Job[]> {
  const frames = app.db.read
    .select({ id: flowFrames.job_id })
    .from(flowFrames)
    .where(eq(flowFrames.root_job, root));
  return app.db.read
    .select()
    .from(jobs)
    .where(inArray(jobs.parent_job, frames))
    .orderBy(desc(jobs.id))
    .limit(MAX_LISTED_JOBS);
}

const getFlowDebugInfo = operation({
  name: "getFlowDebugInfo",
  method: "GET",
  path: "/w/{workspace}/jobs_u/get_flow_debug_info/{id}",
  access: "anyone",
  scope: { domain: "jobs", action: "read" },
  summary:
    "Read the jobs of a running flow that the caller may see by their ids, and the flow's own as `root_job`",
  responds: responds.json(z.record(z.string(), JobRecord)),
  run: async (ctx, { workspace, id }) => {
    const root = await getJob(ctx, workspace, id);
    const isRoot = isFlow(root.kind) && root.flow_step_id === null;
    if (!isRoot || root.state !== "running") {
      throw new BadRequest(`job ${root.id} is not the outermost flow of a run that has not ended`);
    }
    const flow_status = await readFlowStatus(ctx.app, root);
    const told: Record<string, JobRecord> = {
      root_job: redactRecord(ctx.caller, { ...toJobRecord(root), flow_status }),
    };
    for (const job of await listRunJobs(ctx.app, root.id))
      if (canSeeJob(ctx.caller, job)) told[job.id] = redactRecord(ctx.caller, toJobRecord(job));
    return told;
  },
});

export const flowResultOperations: Operation[] = [getResultById, getFlowDebugInfo];
