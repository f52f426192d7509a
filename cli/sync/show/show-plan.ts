/** Shows a plan to people before it is applied. */
import chalk from "chalk";
import { print, toOneLine } from "../../terminal/text/output.ts";
import type { SyncPlan, SyncStep } from "../plan.ts";
import { toPlainName } from "../read/branch-items.ts";
import { formatYaml } from "../read/files.ts";
import type { LocalFolder } from "../read/folder.ts";
import type { FolderSettings } from "../read/folder-settings.ts";
import { type Fields, type Item, SYNCED_KINDS } from "../read/items.ts";
import { createShortDiff, type DiffLine } from "./diff.ts";

/** Maximum lines of an item's difference. */
const MAX_DIFF_LINES = 8;

const SIGNS = { create: "+", change: "~", delete: "-" } as const;
const CHANGE_COLORS = { create: chalk.green, change: chalk.yellow, delete: chalk.red } as const;

/** Prints the steps of a plan for a person. @param direction which side is to be changed */
export function showPlan({ steps, left }: SyncPlan, direction: "push" | "pull"): void {
  for (const step of steps) {
    const { change, item } = step;
    const sign = CHANGE_COLORS[change](SIGNS[change]);
    if (change !== "change") {
      print(`${sign} ${formatTitle(item)}`);
      continue;
    }
    const { local, remote } = step.compared;
    const [before, after] = direction === "push" ? [remote, local] : [local, remote];
    const room = getOutputWidth() - formatTitle(item).length - "~   ".length;
    const fields = listChangedFields(before, after).join(", ").slice(0, Math.max(0, room));
    print(`${sign} ${formatTitle(item)}  ${chalk.dim(fields)}`);
    for (const line of formatDifference(item, before, after)) print(`    ${line}`);
  }
  if (left.length > 0) {
    const where = direction === "push" ? "on the server only" : "in the folder only";
    print(chalk.dim(`${pluralize(left.length, "item")} ${where}; --delete takes away:`));
    for (const item of left) print(chalk.dim(`  ${formatTitle(item)}`));
  }
  print(formatSummary(steps));
}

const MAX_STRAYS = 20;

/** Returns why a file is not deployed. */
function findStrayReason({ branch_items }: FolderSettings, name: string): string {
  if (/_native_trigger\.(?:yaml|json)$/.test(name))
    return "svc does not store triggers of connected services (native triggers)";
  return toPlainName(branch_items, name) === undefined
    ? "the file of another branch counts (specificItems in wmill.yaml; --branch chooses one)"
    : "no item is made of them";
}

/** Lists files that belong to no item, so that nobody expects them to be deployed. */
export function showUnassignedFiles({ strays, settings }: Pick<LocalFolder, "strays" | "settings">): void {
  const byReason = Map.groupBy(strays, (name) => findStrayReason(settings, name));
  for (const [reason, names] of byReason) listStrays(names, reason);
}

function listStrays(names: readonly string[], reason: string): void {
  if (names.length === 0) return;
  print(chalk.dim(`${pluralize(names.length, "file")} not deployed, as ${reason}:`));
  for (const name of names.slice(0, MAX_STRAYS)) print(chalk.dim(`  ${toOneLine(name)}`));
  if (names.length > MAX_STRAYS) print(chalk.dim(`  and ${names.length - MAX_STRAYS} more`));
}

/** Returns the width of a line; unlimited in a pipe. */
const getOutputWidth = (): number =>
  process.stdout.isTTY ? (process.stdout.columns ?? 80) : Number.POSITIVE_INFINITY;

/** Width of the longest kind. */
const KIND_WIDTH = Math.max(...SYNCED_KINDS.map((kind) => kind.length));

const formatTitle = ({ kind, path }: Item): string =>
  toOneLine(`${kind.padEnd(KIND_WIDTH)} ${path}`.trimEnd());

export const pluralize = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

function formatSummary(steps: SyncStep[]): string {
  if (steps.length === 0) return "nothing to change";
  const count = (change: SyncStep["change"]) => steps.filter((step) => step.change === change).length;
  const parts = [
    `${count("create")} to create`,
    `${count("change")} to change`,
    `${count("delete")} to delete`,
  ];
  return `${pluralize(steps.length, "change")}: ${parts.join(", ")}`;
}

/** Lists the names of the fields that differ. */
export function listChangedFields(before: Fields, after: Fields): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !Bun.deepEquals(before[name], after[name]));
}

/** Long or generated fields, of which only the name is shown. */
const NAME_ONLY_FIELDS = new Set(["lock", "schema"]);

/**
 * Formats the difference of an item. Values of resources, secrets and the key are hidden, because output may be stored, for
 * example in a CI log.
 */
function formatDifference({ kind }: Item, before: Fields, after: Fields): string[] {
  if (kind === "resource" || kind === "encryption key" || before.is_secret || after.is_secret) return [];
  const names = listChangedFields(before, after).filter((name) => !NAME_ONLY_FIELDS.has(name));
  const lines: DiffLine[] = [];
  let left_out = 0;
  for (const name of names) {
    const found = createShortDiff(
      formatValue(name, before[name]),
      formatValue(name, after[name]),
      MAX_DIFF_LINES - lines.length,
    );
    lines.push(...found.lines);
    left_out += found.left_out;
  }
  const width = getOutputWidth() - "    + ".length;
  const shown = lines.map(({ mark, text }) => {
    const line = `${mark} ${toOneLine(text).slice(0, width)}`;
    return mark === "+" ? chalk.green(line) : chalk.red(line);
  });
  return left_out > 0 ? [...shown, chalk.dim(`… ${pluralize(left_out, "more line")}`)] : shown;
}

function formatValue(name: string, value: unknown): string {
  if (value === undefined) return "";
  return name === "content" ? String(value) : formatYaml({ [name]: value });
}
