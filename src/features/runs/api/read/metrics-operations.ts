/** Progress and memory of a job. */
import { and, eq } from "drizzle-orm";
import { BadRequest } from "../../../../lib/errors.ts";
import * as z from "../../../../lib/zod/z.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  optionalBody,
  queryInteger,
  responds,
} from "../../../../platform/http/operation.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { getJob, getJobToChange } from "../../submit/find-and-cancel.ts";

const base = "/w/{workspace}/job_metrics" as const;

const read = { domain: "jobs", action: "read" } as const;

const setJobProgress = operation({
  name: "setJobProgress",
  method: "POST",
  path: `${base}/set_progress/{id}`,
  access: "member",
  scope: { domain: "jobs", action: "write" },
  summary: "Set the progress of a running job, in percent",
  body: z.object({ percent: queryInteger.min(0).max(100), flow_job_id: z.string().nullish() }),
  responds: responds.json(z.string(), "what was set"),
  run: async (ctx, { workspace, id, body }) => {
    const job = await getJobToChange(ctx, workspace, id);
    const [set] = await ctx.app.db.write((tx) =>
      tx
        .update(jobs)
        .set({ progress: body.percent })
        .where(and(eq(jobs.id, job.id), eq(jobs.state, "running")))
        .returning({ id: jobs.id }),
    );
    if (!set) throw new BadRequest(`job ${job.id} does not run: it is ${job.state}`);
    return `progress of job ${job.id}: ${body.percent}%`;
  },
});

const getJobProgress = operation({
  name: "getJobProgress",
  method: "GET",
  path: `${base}/get_progress/{id}`,
  access: "member",
  scope: read,
  summary: "Read the progress of a job, in percent; null if it reported none",
  responds: responds.json(z.number().nullable()),
  run: async (ctx, { workspace, id }) => (await getJob(ctx, workspace, id)).progress,
});

const MEMORY = "memory_kb";

const getJobMetrics = operation({
  name: "getJobMetrics",
  method: "POST",
  path: `${base}/get/{id}`,
  access: "member",
  scope: read,
  summary: "Read the peak memory of a completed job",
  // Accepted for existing clients and ignored: no time series of memory is kept.
  body: optionalBody(
    z.object({
      timeseries_max_datapoints: z.number().nullish(),
      from_timestamp: z.string().nullish(),
      to_timestamp: z.string().nullish(),
    }),
  ),
  responds: responds.json(
    z.object({
      metrics_metadata: z.array(z.object({ id: z.string(), name: z.string() })),
      scalar_metrics: z.array(z.object({ metric_id: z.string(), value: z.number() })),
      timeseries_metrics: z.array(
        z.object({
          metric_id: z.string(),
          values: z.array(z.object({ timestamp: isoTimestamp, value: z.number() })),
        }),
      ),
    }),
  ),
  run: async (ctx, { workspace, id }) => {
    const { mem_peak_kb } = await getJob(ctx, workspace, id);
    const known = mem_peak_kb === null ? [] : [{ metric_id: MEMORY, value: mem_peak_kb }];
    return {
      metrics_metadata: known.map(() => ({ id: MEMORY, name: "Most memory taken, in kB" })),
      scalar_metrics: known,
      timeseries_metrics: [],
    };
  },
});

export const metricsOperations: Operation[] = [setJobProgress, getJobProgress, getJobMetrics];
