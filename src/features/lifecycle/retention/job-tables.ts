/** The tables whose rows are deleted with a job, and which of them have monthly partitions. */
import type { AnyColumn } from "drizzle-orm";
import { type JobTable, toJobTable } from "../../../database/months/month.ts";
import { listPartitioned } from "../../../database/months/partitions.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import type { Feature } from "../../../platform/app/feature.ts";
import { jobLogs, jobSearch, jobStreams, jobs } from "../../../platform/queue/tables.ts";

/** Returns the columns with the id of the job that a row belongs to; that of the jobs themselves comes first. */
export const listJobColumns = (features: readonly Feature[]): AnyColumn[] => [
  jobs.id,
  jobLogs.job_id,
  jobStreams.job_id,
  jobSearch.job_id,
  ...features.flatMap(({ jobColumns = [] }) => jobColumns),
];

export const listJobTables = (features: readonly Feature[]): JobTable[] =>
  listJobColumns(features).map(toJobTable);

const known = memoizePerApp<App, { tables?: JobTable[] }>(() => ({}));

/** Returns the tables with monthly partitions. They are read once: tables are converted while no server runs. */
export async function readPartitionedTables(app: App): Promise<JobTable[]> {
  if (app.db.dialect === "sqlite") return [];
  const state = known(app);
  state.tables ??= await listPartitioned(app.db.read, listJobTables(app.features));
  return state.tables;
}
