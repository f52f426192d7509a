/** Options and output that `svc pull` and `svc push` share. */
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { removeTrailingSlashes } from "../../src/lib/text/slashes.ts";
import { createWorkspaceCommand, resolveConnection, type WorkspaceOptions } from "../program/command.ts";
import { CliError } from "../terminal/text/failure.ts";
import { printJson, printNote } from "../terminal/text/output.ts";
import { isStored, STORED } from "./deploy/deployment.ts";
import type { SyncPlan, SyncStep } from "./plan.ts";
import { type ItemSelection, type SecretsMode, SKIPPABLE } from "./read/archive.ts";
import { type LocalFolder, readFolder } from "./read/folder.ts";
import { pluralize } from "./show/show-plan.ts";

export interface SyncOptions extends WorkspaceOptions {
  dryRun?: boolean;
  yes?: boolean;
  delete?: boolean;
  secrets?: SecretsMode;
  settings?: boolean;
  skip?: (typeof SKIPPABLE)[number][];
  only?: string[];
  branch?: string;
}

export function createSyncCommand(name: string, summary: string, taken: string): Command {
  return createWorkspaceCommand(name, summary)
    .argument("[folder]", "where the files are", ".")
    .option("--dry-run", "show the changes, and make none")
    .option("--yes", "do not ask for confirmation")
    .option("--delete", taken)
    .addOption(
      new Option(
        "--secrets <how>",
        "include secrets: sealed (with the workspace's key, usable only there) or plain",
      ).choices(["sealed", "plain"]),
    )
    .option("--settings", "include the settings of the workspace (admins)")
    .addOption(new Option("--skip <kinds...>", "leave these out").choices(SKIPPABLE))
    .option("--only <paths...>", "only what is at these paths or below them")
    .option("--branch <name>", "whose files count, where wmill.yaml lists items of one branch or workspace");
}

export const createSelection = ({ secrets, settings, skip, only }: SyncOptions): ItemSelection => ({
  secrets: secrets ?? "none",
  settings: settings ?? false,
  skip: skip ?? [],
  only: (only ?? []).map(removeTrailingSlashes),
});

/** Reads the folder that is to be synchronised with a workspace. */
export const readSyncFolder = (
  folder: string,
  workspace: string,
  options: SyncOptions,
): Promise<LocalFolder> =>
  readFolder(resolve(folder), createSelection(options), {
    workspace,
    url: resolveConnection(options).url,
    branch: options.branch,
  });

/** The result of one step. */
export interface StepResult {
  step: SyncStep;
  /** The error of a failed step. */
  error?: string;
}

/**
 * Prints the results on stderr: rejected items one by one, and those that cannot run yet grouped by reason.
 * @throws CliError if an item was rejected or cannot run
 */
export function printResults(
  done: StepResult[],
  options: SyncOptions,
  extra: object = {},
  read: FolderReport = { problems: [], strays: [] },
): void {
  const failed = done.filter(({ error }) => error !== undefined);
  const refused = failed.filter(({ error }) => !isStored(error!));
  const stored = failed.length - refused.length;
  if (options.json) printJson({ changes: done.map(toRecord), applied: true, ...extra, ...readRecord(read) });
  for (const { step, error } of refused) printNote(`${step.item.kind} ${step.item.path}: ${error}`);
  printUnlocked(failed);
  if (!options.json) printProblems(read);
  const succeeded = done.length - refused.length;
  if (!options.json && succeeded > 0) printNote(`${pluralize(succeeded, "change")} made`);
  if (failed.length === 0 && read.problems.length > 0) throw createIncompleteError(read);
  if (failed.length === 0) return;
  const cannotRun = `${stored} of the ${pluralize(succeeded, "change")} made cannot run yet`;
  if (refused.length === 0) throw new CliError("Incomplete", cannotRun, { hint: UNLOCKED_HINT });
  const notMade = `${refused.length} of ${pluralize(done.length, "change")} could not be made`;
  throw new CliError("Incomplete", stored > 0 ? `${notMade}; ${cannotRun}` : notMade, {
    hint: INCOMPLETE_HINT,
  });
}

/** Prints the items that are deployed but cannot run, grouped by reason. */
function printUnlocked(failed: StepResult[]): void {
  const byReason = Map.groupBy(
    failed.filter(({ error }) => isStored(error!)),
    ({ error }) => error!.slice(STORED.length),
  );
  for (const [reason, results] of byReason) {
    printNote(`stored but cannot run: ${reason}`);
    for (const { step } of results) printNote(`  ${step.item.kind} ${step.item.path}`);
  }
}

const UNLOCKED_HINT = "the next push locks them again: see above what they need";

const INCOMPLETE_HINT = "what was done stays; fix the rest and run the command again";

/** Files of a folder that belong to no item. */
type FolderReport = Pick<LocalFolder, "problems" | "strays">;

const readRecord = ({ problems, strays }: FolderReport) => ({
  ...(problems.length > 0 && { problems }),
  ...(strays.length > 0 && { strays }),
});

/** Prints the files that could not be read, one by one on stderr. */
export function printProblems({ problems }: Pick<FolderReport, "problems">): void {
  for (const { reason } of problems) printNote(reason);
}

/** Creates the error that ends a command whose changes were made, except for unreadable files. */
export function createIncompleteError({ problems }: Pick<FolderReport, "problems">): CliError {
  return new CliError("Incomplete", `${pluralize(problems.length, "file")} could not be read`, {
    hint: INCOMPLETE_HINT,
  });
}

/** Prints the plan as JSON. */
export function printPlan(
  { steps, left }: SyncPlan,
  read: FolderReport = { problems: [], strays: [] },
): void {
  printJson({
    ...readRecord(read),
    changes: steps.map((step) => toRecord({ step })),
    left: left.map(({ kind, path }) => ({ kind, path })),
    applied: false,
  });
}

const toRecord = ({ step, error }: StepResult) => ({
  change: step.change,
  kind: step.item.kind,
  path: step.item.path,
  ...(error !== undefined && { error }),
});
