/**
 * Metrics of this process in the Prometheus text format. Counters are plain numbers (`meters`), updated where things
 * happen; they are formatted only when metrics are scraped.
 *
 * The counters are in lib/logging/meters.ts, `Database.stats` and `Runner.stats`. Only this file knows the names of
 * metrics.
 */
import { readdir } from "node:fs/promises";
import { count, lte, type SQL, sql } from "drizzle-orm";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { withTimeout } from "../../../lib/async/sleep.ts";
import type { Histogram } from "../../../lib/logging/meters.ts";
import {
  EXPOSITION_CONTENT_TYPE,
  type Metric,
  type Sample,
  toExposition,
} from "../../../lib/logging/prometheus.ts";
import { VERSION } from "../../../lib/version.ts";
import type { App } from "../../../platform/app/context.ts";
import { QUEUED_JOBS, RUNNING_JOBS, selectDueJobs } from "../../runs/api/lists/filters.ts";
import { countOpenStreams } from "../../runs/follow/job-feed.ts";
import { countWaitingCalls } from "../../runs/submit/wait.ts";
import { countPendingFanOut } from "../../signals/webhooks/outbox.ts";
import { webhookDeliveries } from "../../signals/webhooks/tables.ts";
import { schedules } from "../../triggers/schedules/tables.ts";

type ReadFigures = () => Sample[] | Promise<Sample[]>;
type DefineMetric = (type: Metric["type"], name: string, help: string, read: ReadFigures) => void;

/** A metric that takes longer to read is omitted. */
const READ_TIMEOUT_MS = 3_000;
const createTimeoutError = () => new Error("the database does not answer");

type DefinedMetric = Omit<Metric, "samples"> & { read: ReadFigures };

const definedMetrics = memoizePerApp<App, DefinedMetric[]>((app) => {
  const defined: DefinedMetric[] = [];
  const define: DefineMetric = (type, name, help, read) => defined.push({ type, name, help, read });
  defineRequestMetrics(app, define);
  defineJobMetrics(app, define);
  defineOutboxMetrics(app, define);
  defineDatabaseMetrics(app, define);
  defineProcessMetrics(define);
  return defined;
});

/** Renders all metrics, and returns them with their media type. */
export async function renderMetrics(app: App): Promise<{ text: string; type: string }> {
  const metrics = await Promise.all(
    definedMetrics(app).map(async ({ read, ...metric }) => ({ ...metric, samples: await readOrOmit(read) })),
  );
  return { text: toExposition(metrics), type: EXPOSITION_CONTENT_TYPE };
}

/** Reads a metric; one that needs the database is omitted while that does not respond. */
function readOrOmit(read: ReadFigures): Promise<Sample[]> {
  return withTimeout(READ_TIMEOUT_MS, (async () => read())(), createTimeoutError).catch(() => []);
}

function defineRequestMetrics({ meters }: App, define: DefineMetric): void {
  define("counter", "svc_http_requests_total", "Requests answered, by route template and status", () =>
    meters
      .responses()
      .flatMap(({ method, route, statuses }) =>
        [...statuses].map(([status, value]) => ({ value, labels: { method, route, status } })),
      ),
  );
  define("counter", "svc_http_refused_total", "Callers turned away: too often, or with bad credentials", () =>
    Object.entries(meters.refused).map(([reason, value]) => ({ value, labels: { reason } })),
  );
}

function defineJobMetrics(app: App, define: DefineMetric): void {
  const { meters, runner } = app;
  define("gauge", "svc_jobs", "Jobs of the instance that have not ended, by state", async () => {
    const [due, queued, running] = await Promise.all(
      [selectDueJobs(app.clock()), QUEUED_JOBS, RUNNING_JOBS].map(({ ids }) => countRows(app, ids)),
    );
    return [
      { value: due!, labels: { state: "queued" } },
      { value: queued! - due!, labels: { state: "scheduled" } },
      { value: running!, labels: { state: "running" } },
    ];
  });
  define("counter", "svc_jobs_finished_total", "Jobs that ended here since the start, by status", () =>
    [...meters.finished].map(([status, value]) => ({ value, labels: { status } })),
  );
  const wait = "svc_job_queue_wait_seconds";
  define("histogram", wait, "From when a job was due to its start here", () =>
    toHistogramFigures(wait, meters.queueWait),
  );
  const run = "svc_job_run_seconds";
  define("histogram", run, "From a job's start to its end", () => toHistogramFigures(run, meters.runTime));
  define("gauge", "svc_pool_processes", "Script processes, by what they do", () => {
    const { running, idle, blank } = runner.stats();
    return [
      { value: running, labels: { state: "busy" } },
      { value: idle, labels: { state: "warm" } },
      { value: blank, labels: { state: "blank" } },
    ];
  });
  define("counter", "svc_pool_started_total", "Script processes started", () => [
    { value: runner.stats().started_total },
  ]);
  define("gauge", "svc_waiting", "Callers who wait for a job, by how", () => [
    { value: countWaitingCalls(app), labels: { kind: "call" } },
    { value: countOpenStreams(app), labels: { kind: "stream" } },
  ]);
}

function defineOutboxMetrics(app: App, define: DefineMetric): void {
  const { read } = app.db;
  define("gauge", "svc_webhook_deliveries_pending", "Deliveries to webhooks that are not done", async () => {
    const [row] = await read
      .select({ value: count() })
      .from(webhookDeliveries)
      .where(sql`${webhookDeliveries.state} = 'pending'`);
    return [{ value: Number(row?.value ?? 0) + (await countPendingFanOut(read)) }];
  });
  define("gauge", "svc_schedules_due", "Schedules whose next run is due and has not started", async () => {
    const due = lte(schedules.next_at, app.clock());
    const [row] = await read.select({ value: count() }).from(schedules).where(due);
    return [{ value: Number(row?.value ?? 0) }];
  });
}

function defineDatabaseMetrics({ db }: App, define: DefineMetric): void {
  define("counter", "svc_database_commits_total", "Commits", () => [{ value: db.stats().commits }]);
  define("counter", "svc_database_writes_total", "Transactions, of which one commit takes many", () => [
    { value: db.stats().writes },
  ]);
  const batch = "svc_database_commit_batch_size";
  define("histogram", batch, "Transactions in one commit", () => toHistogramFigures(batch, db.stats().batch));
  define("gauge", "svc_database_broken", "1: nothing is stored until a restart", () => [
    { value: db.stats().broken ? 1 : 0 },
  ]);
  const time = "svc_database_commit_seconds";
  define("histogram", time, "Time of one commit, flush included", () =>
    toHistogramFigures(time, db.stats().seconds),
  );
}

function defineProcessMetrics(define: DefineMetric): void {
  define("gauge", "svc_info", "This executable", () => [{ value: 1, labels: { version: VERSION } }]);
  define("gauge", "process_resident_memory_bytes", "Resident memory, script processes not included", () => [
    { value: process.memoryUsage.rss() },
  ]);
  define("gauge", "process_heap_bytes", "Heap in use", () => [{ value: process.memoryUsage().heapUsed }]);
  define("counter", "process_cpu_seconds_total", "Processor time", () => {
    const { user, system } = process.cpuUsage();
    return [{ value: (user + system) / 1_000_000 }];
  });
  const started = Date.now() / 1000 - process.uptime();
  define("gauge", "process_start_time_seconds", "Start, in seconds since 1970", () => [{ value: started }]);
  define("gauge", "process_open_fds", "Open files and connections", async () => {
    const open = await readdir("/proc/self/fd").catch(() => undefined);
    return open ? [{ value: open.length }] : [];
  });
}

/** Counts the rows of a query that reads an index only. */
async function countRows(app: App, ids: SQL): Promise<number> {
  const [row] = await app.db.read.rows<{ size: number }>(
    sql`SELECT count(*) AS size FROM (${ids}) AS entries`,
  );
  return Number(row?.size ?? 0);
}

/** Converts a histogram to the cumulative buckets of Prometheus: each includes the smaller ones. */
function toHistogramFigures(name: string, { bounds, counts, sum }: Histogram): Sample[] {
  let below = 0;
  const buckets = counts.map((count, at) => {
    below += count;
    return { metricName: `${name}_bucket`, value: below, labels: { le: bounds[at] ?? "+Inf" } };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, value: sum },
    { metricName: `${name}_count`, value: below },
  ];
}
