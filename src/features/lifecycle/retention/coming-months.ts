/** Adds the partitions of coming months where the jobs have monthly partitions. */
import { addMonth, listComingMonths, listMonths } from "../../../database/months/partitions.ts";
import { isLockTimeout } from "../../../database/postgres/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { readPartitionedTables } from "./job-tables.ts";

/**
 * Adds the missing partitions of this month and the next two. If the tables are in use for long, the next call tries
 * again; jobs of a month without a partition are in the default partition until then.
 * @throws if a partition cannot be added, and that of this month is missing or the tables are not the cause
 */
export async function addComingMonths(app: App, now: Date): Promise<void> {
  const tables = await readPartitionedTables(app);
  if (tables.length === 0) return;
  const names = await Promise.all(
    tables.map(async (table) => new Set((await listMonths(app.db.read, table)).map(({ name }) => name))),
  );
  for (const [later, month] of listComingMonths(now).entries()) {
    if (names.every((of) => of.has(month.name))) continue;
    try {
      await addMonth(app.db, tables, month);
    } catch (cause) {
      if (later === 0 || !isLockTimeout(cause)) throw cause;
    }
  }
}
