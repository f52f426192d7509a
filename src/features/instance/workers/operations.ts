/** Operations on workers: which ones are live, which jobs they accept, and how many jobs wait. */
import * as z from "../../../lib/zod/z.ts";
import type { App } from "../../../platform/app/context.ts";
import { listLiveWorkers } from "../../../platform/cluster/heartbeat.ts";
import type { WorkerFacts } from "../../../platform/cluster/tables.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  pagingFields,
  queryInteger,
  responds,
  toLimitOffset,
} from "../../../platform/http/operation.ts";
import { DEFAULT_TAGS } from "../../runs/job/custom-tags.ts";
import { countWaitingByTag } from "./worker-groups.ts";

/** A worker whose last heartbeat is older counts as lost, unless the caller gives another limit; in seconds. */
const LIVE_WITHIN_S = 300;

const WorkerPing = z
  .object({
    worker: z.string(),
    worker_instance: z.string(),
    worker_group: z.string(),
    wm_version: z.string(),
    ip: z.string(),
    started_at: isoTimestamp,
    last_ping: z.number(),
    /** The same as a timestamp. */
    ping_at: isoTimestamp,
    jobs_executed: z.number(),
    custom_tags: z.array(z.string()).optional(),
    last_job_id: z.string().optional(),
    last_job_workspace_id: z.string().optional(),
    occupancy_rate: z.number(),
    occupancy_rate_15s: z.number(),
    occupancy_rate_5m: z.number(),
    occupancy_rate_30m: z.number(),
    vcpus: z.number(),
    memory: z.number(),
    memory_usage: z.number(),
    wm_memory_usage: z.number(),
    slots: z.number(),
  })
  .meta({ id: "WorkerPing" });

/**
 * Converts a worker to its record. @param isInsider whether the caller runs the instance; others see neither the
 * worker's address nor its last job
 */
function toWorkerRecord(worker: WorkerFacts, now: Date, isInsider: boolean): z.input<typeof WorkerPing> {
  const { occupancy, memory } = worker;
  const last_job = isInsider && worker.last_job;
  return {
    worker: worker.name,
    worker_instance: worker.instance,
    worker_group: worker.worker_group,
    wm_version: worker.version,
    ip: isInsider ? worker.ip : "",
    started_at: worker.started_at,
    ping_at: worker.last_ping.toISOString(),
    last_ping: Math.max(0, Math.round((now.getTime() - worker.last_ping.getTime()) / 1000)),
    jobs_executed: worker.jobs_executed,
    ...(worker.tags ? { custom_tags: worker.tags } : {}),
    ...(last_job ? { last_job_id: last_job.id, last_job_workspace_id: last_job.workspace_id } : {}),
    occupancy_rate: occupancy.last_15s,
    occupancy_rate_15s: occupancy.last_15s,
    occupancy_rate_5m: occupancy.last_5m,
    occupancy_rate_30m: occupancy.last_30m,
    vcpus: worker.vcpus,
    memory: memory.total,
    memory_usage: memory.used,
    wm_memory_usage: memory.own,
    slots: worker.slots,
  };
}

const listWorkers = operation({
  name: "listWorkers",
  method: "GET",
  path: "/workers/list",
  access: "user",
  summary: "List the processes that run jobs, most recent heartbeat first",
  query: z.object({ ...pagingFields, ping_since: queryInteger.min(1).optional() }),
  responds: responds.json(z.array(WorkerPing)),
  run: async ({ app, caller: { identity } }, { query }) => {
    const all = await listLiveWorkers(app, query.ping_since ?? LIVE_WITHIN_S);
    const now = app.clock();
    const { offset, limit } = toLimitOffset(query);
    const isInsider = identity.super_admin || identity.devops;
    return all.slice(offset, offset + limit).map((worker) => toWorkerRecord(worker, now, isInsider));
  },
});

/** Returns for each tag whether any worker accepts it. */
async function findTakenTags(app: App, tags: string[]): Promise<Record<string, boolean>> {
  const workers = await listLiveWorkers(app, LIVE_WITHIN_S);
  const isTaken = (tag: string) => workers.some((worker) => worker.tags?.includes(tag) ?? true);
  return Object.fromEntries(tags.map((tag) => [tag, isTaken(tag)]));
}

const existsWorkerWithTag = operation({
  name: "existsWorkerWithTag",
  method: "GET",
  path: "/workers/exists_worker_with_tag",
  access: "user",
  summary: "Check whether some worker accepts jobs of a tag",
  query: z.object({ tag: z.string() }),
  responds: responds.json(z.boolean()),
  run: async ({ app }, { query: { tag } }) => (await findTakenTags(app, [tag]))[tag]!,
});

const existsWorkersWithTags = operation({
  name: "existsWorkersWithTags",
  method: "GET",
  path: "/workers/exists_workers_with_tags",
  access: "user",
  summary: "Check for several tags whether some worker accepts them",
  query: z.object({ tags: z.string() }),
  responds: responds.json(z.record(z.string(), z.boolean())),
  run: ({ app }, { query: { tags } }) =>
    findTakenTags(
      app,
      tags.split(",").map((tag) => tag.trim()),
    ),
});

export const getCustomTags = operation({
  name: "getCustomTags",
  method: "GET",
  path: "/workers/custom_tags",
  access: "user",
  allowsWorkspaceTokens: true,
  summary: "List the allowed custom tags",
  responds: responds.json(z.array(z.string())),
  run: ({ app }) => app.settings.get("custom_tags"),
});

const getDefaultTags = operation({
  name: "getDefaultTags",
  method: "GET",
  path: "/workers/get_default_tags",
  access: "user",
  allowsWorkspaceTokens: true,
  summary: "List the default tags of jobs",
  responds: responds.json(z.array(z.string())),
  run: () => [...DEFAULT_TAGS],
});

const isDefaultTagsPerWorkspace = operation({
  name: "isDefaultTagsPerWorkspace",
  method: "GET",
  path: "/workers/is_default_tags_per_workspace",
  access: "user",
  allowsWorkspaceTokens: true,
  summary: "Read whether default tags contain the workspace's id",
  responds: responds.json(z.boolean()),
  run: ({ app }) => app.settings.get("default_tags_per_workspace") === true,
});

const getQueueCounts = operation({
  name: "getCountsOfJobsWaitingPerTag",
  method: "GET",
  path: "/workers/queue_counts",
  access: "devops",
  summary: "Count the jobs that are due and wait for a worker, by tag",
  responds: responds.json(z.record(z.string(), z.number())),
  run: async (ctx) => {
    return Object.fromEntries((await countWaitingByTag(ctx.app)).map(({ tag, count }) => [tag, count]));
  },
});

const getQueueMetrics = operation({
  name: "getQueueMetrics",
  method: "GET",
  path: "/workers/queue_metrics",
  access: "devops",
  summary: "Read the number of waiting jobs and the longest wait in seconds, by tag",
  responds: responds.json(
    z.array(
      z.object({
        id: z.string(),
        values: z.array(z.object({ created_at: isoTimestamp, value: z.number() })),
      }),
    ),
  ),
  run: async (ctx) => {
    const created_at = ctx.app.clock();
    return (await countWaitingByTag(ctx.app)).flatMap(({ tag, count, since }) => [
      { id: `queue_count_${tag}`, values: [{ created_at, value: count }] },
      {
        id: `queue_delay_${tag}`,
        values: [{ created_at, value: (created_at.getTime() - since.getTime()) / 1000 }],
      },
    ]);
  },
});

export const workerOperations: Operation[] = [
  listWorkers,
  existsWorkerWithTag,
  existsWorkersWithTags,
  getCustomTags,
  getDefaultTags,
  isDefaultTagsPerWorkspace,
  getQueueCounts,
  getQueueMetrics,
];
