import { join } from "node:path";
import { chalkStderr } from "chalk";
import type { MoveSummary } from "../../../src/database/backup/move-to-postgres.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { locateDataDirectory } from "../../client/data-directory.ts";
import { createCommand, formatExamples } from "../../program/command.ts";
import { withProgress } from "../../terminal/progress.ts";
import { createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote } from "../../terminal/text/output.ts";
import { formatCount, formatProgress } from "./backup.ts";

interface MigrateOptions {
  dataDir?: string;
  json?: boolean;
  dryRun?: boolean;
  force?: boolean;
}

export default createCommand(
  "migrate-to",
  "move the embedded database to PostgreSQL, every row compared; no server may run",
  "directory",
)
  .argument("[url]", "postgres://user:password@host:5432/database (env DATABASE_URL: shown to nobody in ps)")
  .option("--dry-run", "do all of it but keep nothing; shows how much data there is and how long it takes")
  .option("--force", "replace the instance that is in that database")
  .addHelpText(
    "after",
    formatExamples(
      "svc migrate-to postgres://svc@db.example.org/svc --dry-run",
      "DATABASE_URL=postgres://… svc migrate-to --data-dir /var/lib/svc",
    ),
  )
  .action(async (given: string | undefined, options: MigrateOptions) => {
    const config = loadConfig({ data_dir: locateDataDirectory(options.dataDir) });
    const url = given ?? config.database_url;
    if (url === undefined) {
      throw createUsageError(
        "the target database is missing",
        "give the URL of a PostgreSQL database, or set DATABASE_URL",
      );
    }
    const { moveToPostgres } = await import("../../../src/database/backup/move-to-postgres.ts");
    const verb = options.dryRun ? "trying" : "moving";
    const moved = await withProgress(verb, (tell) =>
      moveToPostgres(config, url, {
        dry_run: options.dryRun ?? false,
        force: options.force ?? false,
        onProgress: (progress) => tell(`${verb}: ${formatProgress(progress)}`),
      }),
    );
    if (options.json) printJson(moved);
    else print(formatSummary(moved));
    if (!moved.dry_run)
      for (const line of listNextSteps(moved, config.data_dir)) printNote(chalkStderr.dim(line));
  });

function formatSummary({ dry_run, rows, tables, to, took_ms }: MoveSummary): string {
  const what = `${formatCount(rows, "row")} of ${formatCount(tables, "table")}`;
  const seconds = `${(took_ms / 1000).toFixed(1)} s`;
  return dry_run
    ? `${what} fit into ${to}: copied and compared in ${seconds}, nothing kept`
    : `${what} moved to ${to}, every one compared, in ${seconds}`;
}

function listNextSteps({ files }: MoveSummary, data_dir: string): string[] {
  const key = join(data_dir, "instance.key");
  const lines = [
    "next: start svc serve with DATABASE_URL set and the same --data-dir",
    `further machines need the same key: ${key}, or SVC_SECRET_KEY`,
    `the old database, ${join(data_dir, "svc.db")}, is as it was: remove it when all is well`,
  ];
  if (files > 0) {
    lines.push(
      `in ${join(data_dir, "storage")} stays ${formatCount(files, "stored file")}: further machines need that folder, or S3`,
    );
  }
  return lines;
}
