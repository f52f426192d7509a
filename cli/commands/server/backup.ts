import { resolve } from "node:path";
import { chalkStderr } from "chalk";
import type { BackupProgress } from "../../../src/database/backup/backup.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { locateDataDirectory } from "../../client/data-directory.ts";
import { createCommand, formatExamples } from "../../program/command.ts";
import { withProgress } from "../../terminal/progress.ts";
import { print, printJson, printNote, toOneLine } from "../../terminal/text/output.ts";

interface BackupOptions {
  dataDir?: string;
  json?: boolean;
  withKey?: boolean;
  force?: boolean;
}

/** Formats a number with thousands separators. */
function formatNumber(value: number): string {
  return value.toLocaleString("en-US");
}

/** Formats a number with its noun. */
export function formatCount(value: number, what: string): string {
  return `${formatNumber(value)} ${what}${value === 1 ? "" : "s"}`;
}

/** Formats the progress of a backup or restore. */
export function formatProgress({ at, rows, files }: BackupProgress): string {
  return `${formatCount(rows, "row")}, ${formatCount(files, "file")} (${toOneLine(at)})`;
}

export default createCommand("backup", "write all data to one file, also while the server runs", "directory")
  .argument("<file>", "the backup to write; only you can read it")
  .option("--with-key", "include the instance key: anyone who has the file can then read all secrets")
  .option("--force", "replace an existing file")
  .addHelpText(
    "after",
    formatExamples("svc backup svc.backup", "svc backup --with-key /mnt/safe/svc-$(date +%F).backup"),
  )
  .action(async (file: string, options: BackupOptions) => {
    const config = loadConfig({ data_dir: locateDataDirectory(options.dataDir) });
    const { makeBackup } = await import("../../../src/database/backup/backup.ts");
    const made = await withProgress("backing up", (tell) =>
      makeBackup(config, resolve(file), {
        with_key: options.withKey ?? false,
        force: options.force ?? false,
        onProgress: (progress) => tell(`backing up: ${formatProgress(progress)}`),
      }),
    );
    if (options.json) printJson({ file: resolve(file), ...made });
    else {
      const { rows, tables, files, bytes } = made;
      print(
        `${file}: ${formatCount(rows, "row")} of ${formatCount(tables, "table")} and ${formatCount(files, "file")} in ${formatCount(bytes, "byte")}`,
      );
    }
    if (made.with_key) printNote(chalkStderr.dim("it holds the instance key: keep it as you keep that"));
    else {
      printNote(
        `${chalkStderr.yellow("warning:")} the instance key is not in it, and without it no secret can be read again: keep instance.key (or SVC_SECRET_KEY) elsewhere, or back up --with-key`,
      );
    }
  });
