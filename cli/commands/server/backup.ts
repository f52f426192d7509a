import { resolve } from "node:path";
import { chalkStderr } from "chalk";
import type { Progress } from "../../../src/database/backup/backup.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { examples, leaf } from "../../program/command.ts";
import { withProgress } from "../../terminal/progress.ts";
import { note, oneLine, print, printJson } from "../../terminal/text/output.ts";

interface BackupOptions {
  dataDir?: string;
  json?: boolean;
  withKey?: boolean;
  force?: boolean;
}

/** Numbers as a person reads them. */
function grouped(value: number): string {
  return value.toLocaleString("en-US");
}

/** A number with what it counts. */
export function counted(value: number, what: string): string {
  return `${grouped(value)} ${what}${value === 1 ? "" : "s"}`;
}

/** How far a backup or a restore is. */
export function progressLine({ at, rows, files }: Progress): string {
  return `${counted(rows, "row")}, ${counted(files, "file")} (${oneLine(at)})`;
}

export default leaf("backup", "write all data to one file, also while the server runs", "directory")
  .argument("<file>", "the backup to write; only you can read it")
  .option("--with-key", "include the instance key: whoever has the file can then read all secrets")
  .option("--force", "replace an existing file")
  .addHelpText(
    "after",
    examples("svc backup svc.backup", "svc backup --with-key /mnt/safe/svc-$(date +%F).backup"),
  )
  .action(async (file: string, options: BackupOptions) => {
    const config = loadConfig({ data_dir: options.dataDir });
    const { makeBackup } = await import("../../../src/database/backup/backup.ts");
    const made = await withProgress("backing up", (tell) =>
      makeBackup(config, resolve(file), {
        with_key: options.withKey ?? false,
        force: options.force ?? false,
        onProgress: (progress) => tell(`backing up: ${progressLine(progress)}`),
      }),
    );
    if (options.json) printJson({ file: resolve(file), ...made });
    else {
      const { rows, tables, files, bytes } = made;
      print(
        `${file}: ${counted(rows, "row")} of ${counted(tables, "table")} and ${counted(files, "file")} in ${counted(bytes, "byte")}`,
      );
    }
    if (made.with_key) note(chalkStderr.dim("it holds the instance key: keep it as you keep that"));
    else {
      note(
        `${chalkStderr.yellow("warning:")} the instance key is not in it, and without it no secret can be read again: keep instance.key (or SVC_SECRET_KEY) elsewhere, or back up --with-key`,
      );
    }
  });
