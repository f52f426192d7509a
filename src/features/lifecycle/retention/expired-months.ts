/**
 * Drops the monthly partitions of expired jobs. A month is dropped once all of it is older than the retention period;
 * the few of its jobs that must stay, because they are unfinished, recent or belong to such a flow, move to the default
 * partition.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Database, Reader } from "../../../database/database.ts";
import { getMonthOf, type JobTable, type Month } from "../../../database/months/month.ts";
import {
  deleteMonth,
  dropMonth,
  isAmong,
  listMonths,
  lockTables,
  partitionName,
} from "../../../database/months/partitions.ts";
import { isLockTimeout } from "../../../database/postgres/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { deleteBatch } from "../../../platform/loops/expired-rows.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { listJobTables, readPartitionedTables } from "./job-tables.ts";

/** A month with more jobs that must stay is not dropped: moving them would lock the tables for long. */
const MAX_KEPT = 250;
/** A month that could not be dropped for so many months is deleted row by row. */
const PATIENCE_MONTHS = 1;
/** Time limit of looking through the steps of flows in a month. */
const READ_TIMEOUT_MS = 600_000;

/** Jobs that expire at this time, and the partition with the month in question. */
interface Expiring {
  table: JobTable;
  month: Month;
  before: Date;
}

/** Drops expired months. @returns the months whose jobs are not to be deleted row by row */
export async function* dropExpiredMonths(app: App, before: Date): AsyncGenerator<void, Month[]> {
  const [table] = await readPartitionedTables(app);
  if (table?.table !== "jobs") return [];
  const current = getMonthOf(before);
  const patient = getMonthOf(before, -PATIENCE_MONTHS);
  const kept: Month[] = [];
  for (const month of await listMonths(app.db.read, table)) {
    const isDropped = month.from < current.from && (await dropExpired(app, { table, month, before }));
    if (!isDropped && month.from >= patient.from) kept.push(month);
    yield;
  }
  return kept;
}

/** Drops a month unless too many of its jobs must stay, or its tables are in use. @returns whether it is gone */
async function dropExpired(app: App, expiring: Expiring): Promise<boolean> {
  const { db } = app;
  const recent = await findRecent(db.read, expiring);
  if (recent.length > MAX_KEPT) return false;
  const ids = [...new Set([...recent, ...(await findRelated(db, expiring))])];
  if (ids.length > MAX_KEPT) return false;
  const partitioned = await readPartitionedTables(app);
  const names = new Set(partitioned.map((each) => each.table));
  const others = listJobTables(app.features).filter((each) => !names.has(each.table));
  const began = performance.now();
  try {
    await deleteBatch(db, async (tx) => {
      await deleteMonth(tx, others, expiring.month, ids);
      await lockTables(tx, partitioned);
      const now = await findRecent(tx, expiring);
      if (!now.every((id) => ids.includes(id))) throw new MonthChanged();
      await dropMonth(tx, partitioned, expiring.month, ids);
    });
  } catch (cause) {
    if (!isLockTimeout(cause) && !(cause instanceof MonthChanged)) throw cause;
    return false;
  }
  const took_ms = Math.round(performance.now() - began);
  app.log.info({ month: expiring.month.name, kept: ids.length, took_ms }, "dropped a month of jobs");
  return true;
}

/** Jobs were stored in a month while it was looked through: the next pass looks again. */
class MonthChanged extends Error {}

const ofMonth = ({ table, month }: Expiring) => sql.identifier(partitionName(table, month));
const isYoung = ({ before }: Expiring): SQL => sql`completed_at >= ${before.toISOString()}::timestamptz`;
const most = sql.raw(`LIMIT ${MAX_KEPT + 1}`);

/** Returns the month's jobs that are unfinished or not expired; there is an index for each part. */
async function findRecent(db: Reader, expiring: Expiring): Promise<string[]> {
  const states = ["queued", "planned", "running", "held"].map((state) => sql.raw(`state = '${state}'`));
  const parts = [...states, sql`state = 'completed' AND ${isYoung(expiring)}`].map(
    (condition) => sql`(SELECT id FROM ${ofMonth(expiring)} WHERE ${condition} ${most})`,
  );
  return readIds(await db.rows(sql.join(parts, sql` UNION ALL `)));
}

/** Returns the month's jobs whose flow, or the job that started them, is unfinished or not expired. */
async function findRelated(db: Database, expiring: Expiring): Promise<string[]> {
  const month = ofMonth(expiring);
  const relatives = sql`SELECT parent_job AS id FROM ${month} WHERE parent_job IS NOT NULL
    UNION SELECT root_job FROM ${month} WHERE root_job IS NOT NULL`;
  const options = { timeout_ms: READ_TIMEOUT_MS };
  const young = readIds(
    await db.readAside(
      sql`SELECT id FROM (${relatives}) AS relative JOIN ${jobs} USING (id)
          WHERE state <> 'completed' OR ${isYoung(expiring)} ${most}`,
      options,
    ),
  );
  if (young.length === 0) return [];
  const isRelated = sql`${isAmong(jobs.parent_job, young)} OR ${isAmong(jobs.root_job, young)}`;
  const own = sql`SELECT id FROM ${month} AS jobs WHERE ${isRelated} ${most}`;
  return readIds(await db.readAside(own, options));
}

const readIds = (rows: { id?: unknown }[]) => rows.map(({ id }) => String(id));
