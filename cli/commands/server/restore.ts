import { resolve } from "node:path";
import { chalkStderr } from "chalk";
import type { RestoreSummary } from "../../../src/database/backup/restore.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { locateDataDirectory } from "../../client/data-directory.ts";
import { createCommand, formatExamples } from "../../program/command.ts";
import { withProgress } from "../../terminal/progress.ts";
import { print, printJson, printNote } from "../../terminal/text/output.ts";
import { formatCount, formatProgress } from "./backup.ts";

interface RestoreOptions {
  dataDir?: string;
  json?: boolean;
  force?: boolean;
}

const KEY_WARNINGS: Partial<Record<RestoreSummary["key"], string>> = {
  missing:
    "there is no instance key here: put instance.key of the old instance in the data directory, or set SVC_SECRET_KEY, before you start the server",
  other:
    "the instance key here is another one than that of the backup: secrets cannot be read until instance.key of the old instance, or its SVC_SECRET_KEY, is in its place",
};

export default createCommand("restore", "replace all data with a backup, while no server runs", "directory")
  .argument("<file>", "a backup that `svc backup` made, on this or the other kind of database")
  .option("--force", "replace existing data")
  .addHelpText("after", formatExamples("svc restore svc.backup --data-dir /var/lib/svc"))
  .action(async (file: string, options: RestoreOptions) => {
    const config = loadConfig({ data_dir: locateDataDirectory(options.dataDir) });
    const { restoreBackup } = await import("../../../src/database/backup/restore.ts");
    const restored = await withProgress("restoring", (tell) =>
      restoreBackup(config, resolve(file), {
        force: options.force ?? false,
        onProgress: (progress) => tell(`restoring: ${formatProgress(progress)}`),
      }),
    );
    if (options.json) printJson(restored);
    else {
      const { rows, files, created_at, aside } = restored;
      print(`restored ${formatCount(rows, "row")} and ${formatCount(files, "file")} of ${created_at}`);
      if (aside) printNote(chalkStderr.dim(`what was there is kept in ${aside}: remove it when all is well`));
    }
    const warning = KEY_WARNINGS[restored.key];
    if (warning) printNote(`${chalkStderr.yellow("warning:")} ${warning}`);
  });
