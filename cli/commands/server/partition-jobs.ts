import { chalkStderr } from "chalk";
import type { PartitionSummary } from "../../../src/database/months/convert.ts";
import { BadRequest } from "../../../src/lib/errors.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { locateDataDirectory } from "../../client/data-directory.ts";
import { createCommand, formatExamples } from "../../program/command.ts";
import { withProgress } from "../../terminal/progress.ts";
import { print, printJson, printNote } from "../../terminal/text/output.ts";
import { formatCount } from "./backup.ts";

interface PartitionOptions {
  dataDir?: string;
  json?: boolean;
}

export default createCommand(
  "partition-jobs",
  "keep the jobs in PostgreSQL in monthly partitions, which retention drops at once; no server may run",
  "directory",
)
  .addHelpText(
    "after",
    formatExamples(
      "svc partition-jobs --data-dir /var/lib/svc",
      "DATABASE_URL=postgres://… svc partition-jobs",
    ),
  )
  .action(async (options: PartitionOptions) => {
    const { database_url } = loadConfig({ data_dir: locateDataDirectory(options.dataDir) });
    if (database_url === undefined) {
      throw new BadRequest("the embedded database has no partitions", {
        hint: "set DATABASE_URL to the PostgreSQL database of the instance",
      });
    }
    const { partitionByMonth } = await import("../../../src/database/months/convert.ts");
    const { listJobTables } = await import("../../../src/features/lifecycle/retention/job-tables.ts");
    const { features } = await import("../../../src/server/features.ts");
    const done = await withProgress("partitioning", (tell) =>
      partitionByMonth(database_url, listJobTables(features), new Date(), ({ table, month, rows }) =>
        tell(`partitioning: ${formatCount(rows, "row")} (${table}, ${month})`),
      ),
    );
    if (options.json) printJson(done);
    else print(formatSummary(done));
    if (done.vacuum_error !== undefined) {
      printNote(
        `${chalkStderr.yellow("warning:")} the tables are converted, but not vacuumed: ${done.vacuum_error}\n` +
          chalkStderr.dim("counts are slow until autovacuum or VACUUM (ANALYZE) has read them"),
      );
    }
    if (done.tables > 0) {
      printNote(
        chalkStderr.dim("from now on, a job is deleted with its month: up to a month after its retention"),
      );
    }
  });

function formatSummary({ tables, rows, months, took_ms }: PartitionSummary): string {
  if (tables === 0) return "the jobs are in monthly partitions already: nothing was changed";
  const what = `${formatCount(rows, "row")} of ${formatCount(tables, "table")}`;
  return `${what} are in partitions of ${formatCount(months, "month")} now, after ${(took_ms / 1000).toFixed(1)} s`;
}
