/** What `svc pull` and `svc push` have in common: their options, and how their steps are told. */
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { inWorkspace, type WorkspaceOptions } from "../program/command.ts";
import { CliError } from "../terminal/text/failure.ts";
import { note, printJson } from "../terminal/text/output.ts";
import type { Plan, Step } from "./plan.ts";
import { type Secrets, type Selection, SKIPPABLE } from "./read/archive.ts";
import type { Folder } from "./read/folder.ts";
import { counted } from "./show/show.ts";

export interface SyncOptions extends WorkspaceOptions {
  dryRun?: boolean;
  yes?: boolean;
  delete?: boolean;
  secrets?: Secrets;
  settings?: boolean;
  skip?: (typeof SKIPPABLE)[number][];
  only?: string[];
}

export function syncCommand(name: string, summary: string, taken: string): Command {
  return inWorkspace(name, summary)
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
    .option("--only <paths...>", "only what is at these paths or below them");
}

export const selectionOf = ({ secrets, settings, skip, only }: SyncOptions): Selection => ({
  secrets: secrets ?? "none",
  settings: settings ?? false,
  skip: skip ?? [],
  only: (only ?? []).map((path) => path.replace(/\/+$/, "")),
});

export const rootOf = (folder: string): string => resolve(folder);

/** How one step went. */
export interface Done {
  step: Step;
  /** Why it was not done. */
  error?: string;
}

/** Tells what was done: failures one by one on stderr. @throws CliError when one failed */
export function tellDone(
  done: Done[],
  options: SyncOptions,
  extra: object = {},
  read: Read = { problems: [], strays: [] },
): void {
  const failed = done.filter(({ error }) => error !== undefined);
  if (options.json) printJson({ changes: done.map(recordOf), applied: true, ...extra, ...readRecord(read) });
  for (const { step, error } of failed) note(`${step.item.kind} ${step.item.path}: ${error}`);
  if (!options.json) tellProblems(read);
  const succeeded = done.length - failed.length;
  if (!options.json && succeeded > 0) note(`${counted(succeeded, "change")} made`);
  if (failed.length === 0 && read.problems.length > 0) throw unread(read);
  if (failed.length === 0) return;
  const message = `${failed.length} of ${counted(done.length, "change")} could not be made`;
  throw new CliError("Incomplete", message, { hint: HINT });
}

const HINT = "what was done stays; fix the rest and run the command again";

/** What is told of a folder's files beside its items. */
type Read = Pick<Folder, "problems" | "strays">;

const readRecord = ({ problems, strays }: Read) => ({
  ...(problems.length > 0 && { problems }),
  ...(strays.length > 0 && { strays }),
});

/** Files that could not be read, one by one on stderr. */
export function tellProblems({ problems }: Pick<Read, "problems">): void {
  for (const { reason } of problems) note(reason);
}

/** What ends a command whose changes were made, as far as files could be read. */
export function unread({ problems }: Pick<Read, "problems">): CliError {
  return new CliError("Incomplete", `${counted(problems.length, "file")} could not be read`, { hint: HINT });
}

/** What would be done, as JSON. */
export function printPlan({ steps, left }: Plan, read: Read = { problems: [], strays: [] }): void {
  printJson({
    ...readRecord(read),
    changes: steps.map((step) => recordOf({ step })),
    left: left.map(({ kind, path }) => ({ kind, path })),
    applied: false,
  });
}

const recordOf = ({ step, error }: Done) => ({
  change: step.change,
  kind: step.item.kind,
  path: step.item.path,
  ...(error !== undefined && { error }),
});
