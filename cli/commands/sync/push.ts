import { describeNotRun } from "../../../src/features/triggers/common/stored/kinds.ts";
import { describeServer, formatExamples, resolveWorkspace, withClient } from "../../program/command.ts";
import { deployStep } from "../../sync/deploy/deploy.ts";
import { type Deployment, isStored } from "../../sync/deploy/deployment.ts";
import { orderByImports } from "../../sync/deploy/import-order.ts";
import { readFileTypes } from "../../sync/deploy/remote-types.ts";
import { listFailedSteps } from "../../sync/failed-code.ts";
import {
  createIncompleteError,
  createSelection,
  createSyncCommand,
  printPlan,
  printProblems,
  printResults,
  readSyncFolder,
  type StepResult,
  type SyncOptions,
} from "../../sync/options.ts";
import { planPush, takeUnsetSecrets } from "../../sync/plan.ts";
import { readArchive } from "../../sync/read/archive.ts";
import { toCanonicalFields } from "../../sync/read/canonical.ts";
import { writeItem } from "../../sync/read/files.ts";
import type { LocalFolder } from "../../sync/read/folder.ts";
import { filterIncluded } from "../../sync/read/folder-settings.ts";
import { findStoredKind, getItemKey } from "../../sync/read/items.ts";
import { createReport, showReport } from "../../sync/report.ts";
import { pluralize, showPlan, showUnassignedFiles } from "../../sync/show/show-plan.ts";
import { createTagCheck } from "../../sync/unlisted-tags.ts";
import { withProgress } from "../../terminal/progress.ts";
import { confirmFirst } from "../../terminal/prompts.ts";
import { CliError, createUsageError, EXIT_CODES } from "../../terminal/text/failure.ts";
import { printNote, toOneLine } from "../../terminal/text/output.ts";

export default createSyncCommand(
  "push",
  "deploy a folder of files to a workspace",
  "delete items that have no file (scripts and flows are archived)",
)
  .option("--message <text>", "what changed, for the history")
  .option("--report", "list at the end what was taken, changed, and will not run")
  .addHelpText(
    "after",
    `${formatExamples(
      "svc push --dry-run",
      "svc push ./acme --workspace acme",
      'svc push --yes --delete --message "$(git log -1 --format=%s)"',
    )}

The files are the ones of svc pull and wmill sync. What the service generates
(locks, schemas) is written back into the folder afterwards.`,
  )
  .action(async (given: string, options: SyncOptions & { message?: string; report?: boolean }) => {
    const selection = createSelection(options);
    await withClient(
      options,
      async (client) => {
        const workspace = await resolveWorkspace(client, options.workspace);
        const folder = await readSyncFolder(given, workspace, options);
        if (folder.items.size === 0) {
          const [problem] = folder.problems;
          if (problem) throw createUsageError(problem.reason);
          throw createUsageError(
            `${given} holds nothing of a workspace: no script, no flow, no .yaml of one`,
            "svc pull fills a folder",
          );
        }
        const read = () => readArchive(client, workspace, selection, folder);
        const remote = await withProgress("comparing", read);
        const deletes = options.delete ?? false;
        if (deletes && folder.problems.length > 0) {
          printProblems(folder);
          throw createUsageError(
            "nothing is deleted as long as files cannot be read: the items that they describe would be deleted",
          );
        }
        const plan = planPush(folder, filterIncluded(folder, remote), deletes);
        const failed = await listFailedSteps({ client, workspace }, folder.items, remote, plan.steps);
        plan.steps.push(...failed);
        const unset = takeUnsetSecrets(plan);
        if (!options.json) {
          showPlan(plan, "push");
          showUnassignedFiles(folder);
          for (const { item } of unset)
            printNote(
              toOneLine(`warning: variable ${item.path}: its file has no value: set the secret by hand`),
            );
        }
        if (plan.steps.length === 0 || options.dryRun) {
          if (options.json) printPlan(plan, folder);
          else printProblems(folder);
          if (folder.problems.length > 0) throw createIncompleteError(folder);
          return;
        }
        await confirmFirst(
          options.yes,
          `Apply these changes to workspace ${workspace} ${describeServer(options)}?`,
        );
        const { secrets } = selection;
        const at: Deployment = { client, workspace, secrets, message: options.message, remote };
        const done = await deployAllSteps(at, await orderByImports(plan.steps));
        const after = await read();
        const completed = await writeComputedFields(at, folder, done, after);
        const report = options.report ? await createReport(at, folder, done, after) : undefined;
        if (!options.json && completed.length > 0) {
          printNote(
            `${pluralize(completed.length, "item")} completed in the folder: ${completed.join(", ")}`,
          );
        }
        if (report && !options.json) showReport(report);
        else if (!options.json) await warnOfObstacles(at, done);
        printResults(done, options, { completed, ...(report && { report }) }, folder);
      },
      "own",
    );
  });

/** Warns of items that were stored and will not run. */
async function warnOfObstacles(at: Deployment, done: StepResult[]): Promise<void> {
  const unlistedTags = await createTagCheck(at);
  for (const { step, error } of done) {
    if (step.change === "delete" || error !== undefined) continue;
    const { item } = step;
    for (const problem of unlistedTags(item))
      printNote(toOneLine(`warning: ${item.kind} ${item.path} ${problem}`));
    const stored = findStoredKind(item.kind);
    if (stored) printNote(toOneLine(`warning: ${item.kind} ${item.path} is ${describeNotRun(stored)}`));
  }
}

/** Deploys step by step. A rejected item does not stop the others; an unreachable server does. */
async function deployAllSteps(at: Deployment, steps: StepResult["step"][]): Promise<StepResult[]> {
  return withProgress("deploying", async (tell) => {
    const done: StepResult[] = [];
    for (const step of steps) {
      tell(`${done.length + 1} of ${steps.length}: ${step.item.kind} ${step.item.path}`);
      const error = await deployStep(at, step).then(
        () => undefined,
        (cause: Error) => {
          if (cause instanceof CliError && cause.exit_code !== EXIT_CODES.unreachable) return cause.message;
          throw cause;
        },
      );
      done.push(error === undefined ? { step } : { step, error });
    }
    return done;
  });
}

/**
 * Writes what the service computed for the deployed items (locks, schemas, defaults) into the folder, so that the next
 * plan is empty.
 * @returns the items' paths
 */
async function writeComputedFields(
  { client, workspace }: Deployment,
  folder: LocalFolder,
  done: StepResult[],
  remote: Awaited<ReturnType<typeof readArchive>>,
): Promise<string[]> {
  const completed: string[] = [];
  const file_types = await readFileTypes(client, workspace, [...remote.values()]);
  for (const { step, error } of done) {
    if (step.change === "delete" || (error !== undefined && !isStored(error))) continue;
    const key = getItemKey(step.item);
    const [local, there] = [folder.items.get(key), remote.get(key)];
    if (!local || !there || Bun.deepEquals(toCanonicalFields(local), toCanonicalFields(there))) continue;
    await writeItem(folder.root, there, { folder, file_types }, local);
    completed.push(local.path || local.kind);
  }
  return completed;
}
