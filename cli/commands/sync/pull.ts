import { formatExamples, resolveWorkspace, withClient } from "../../program/command.ts";
import { readFileTypes } from "../../sync/deploy/remote-types.ts";
import {
  createSelection,
  createSyncCommand,
  printPlan,
  printResults,
  readSyncFolder,
  type StepResult,
  type SyncOptions,
} from "../../sync/options.ts";
import { planPull } from "../../sync/plan.ts";
import { readArchive } from "../../sync/read/archive.ts";
import { removeItemFiles, writeItem } from "../../sync/read/files.ts";
import { filterIncluded } from "../../sync/read/folder-settings.ts";
import { getItemKey } from "../../sync/read/items.ts";
import { showPlan } from "../../sync/show/show-plan.ts";
import { withProgress } from "../../terminal/progress.ts";
import { confirmFirst } from "../../terminal/prompts.ts";
import { createUsageError } from "../../terminal/text/failure.ts";

export default createSyncCommand(
  "pull",
  "write a workspace to a folder of files",
  "delete files whose items are not on the server",
)
  .addHelpText(
    "after",
    `${formatExamples(
      "svc pull --workspace acme",
      "svc pull ./acme --dry-run",
      "svc pull --yes --delete && git add -A && git commit -m 'Changes of acme'",
    )}

Secrets are left out unless --secrets says how to write them. Files that do not
belong to a workspace are left alone.`,
  )
  .action(async (given: string, options: SyncOptions) => {
    const selection = createSelection(options);
    await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      const folder = await readSyncFolder(given, workspace, options);
      // An invalid file may be unfinished work, which a pull must not overwrite.
      const [problem] = folder.problems;
      if (problem) throw createUsageError(problem.reason);
      const archive = await withProgress("comparing", () =>
        readArchive(client, workspace, selection, folder),
      );
      const remote = filterIncluded(folder, archive);
      const plan = planPull(folder, remote, options.delete ?? false);
      if (!options.json) showPlan(plan, "pull");
      if (plan.steps.length === 0 || options.dryRun) {
        if (options.json) printPlan(plan);
        return;
      }
      await confirmFirst(options.yes, `Apply these changes to the files in ${folder.root}?`);
      const file_types = await readFileTypes(client, workspace, [...remote.values()]);
      const style = { folder, file_types };
      const done: StepResult[] = [];
      for (const step of plan.steps) {
        const before = folder.items.get(getItemKey(step.item));
        const error = await (async () => {
          if (step.change !== "delete") await writeItem(folder.root, step.item, style, before);
          else if (before) removeItemFiles(folder.root, before.files);
        })().then(
          () => undefined,
          (cause: Error) => cause.message,
        );
        done.push(error === undefined ? { step } : { step, error });
      }
      printResults(done, options);
    });
  });
