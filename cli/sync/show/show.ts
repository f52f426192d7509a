/** A plan as a person reads it before it is applied. */
import chalk from "chalk";
import { oneLine, print } from "../../terminal/text/output.ts";
import type { Plan, Step } from "../plan.ts";
import { toYaml } from "../read/files.ts";
import { type Fields, type Item, KINDS } from "../read/items.ts";
import { type Line, shortDiff } from "./diff.ts";

/** Lines of an item's difference that are shown. */
const MOST_LINES = 8;

const SIGNS = { create: "+", change: "~", delete: "-" } as const;
const PAINT = { create: chalk.green, change: chalk.yellow, delete: chalk.red } as const;

/** @param direction of the difference: which side is to be changed */
export function showPlan({ steps, left }: Plan, direction: "push" | "pull"): void {
  for (const step of steps) {
    const { change, item } = step;
    const sign = PAINT[change](SIGNS[change]);
    if (change !== "change") {
      print(`${sign} ${titleOf(item)}`);
      continue;
    }
    const { local, remote } = step.compared;
    const [before, after] = direction === "push" ? [remote, local] : [local, remote];
    const room = widthNow() - titleOf(item).length - "~   ".length;
    const fields = changedFields(before, after).join(", ").slice(0, Math.max(0, room));
    print(`${sign} ${titleOf(item)}  ${chalk.dim(fields)}`);
    for (const line of differenceOf(item, before, after)) print(`    ${line}`);
  }
  if (left.length > 0) {
    const where = direction === "push" ? "on the server only" : "in the folder only";
    print(chalk.dim(`${counted(left.length, "item")} ${where}; --delete takes away:`));
    for (const item of left) print(chalk.dim(`  ${titleOf(item)}`));
  }
  print(summaryOf(steps));
}

const MOST_STRAYS = 20;

/** Files among those of a workspace that are not understood: nobody should think that they were deployed. */
export function showStrays({ strays }: { strays: readonly string[] }): void {
  if (strays.length === 0) return;
  print(chalk.dim(`${counted(strays.length, "file")} not deployed, as no item is made of them:`));
  for (const name of strays.slice(0, MOST_STRAYS)) print(chalk.dim(`  ${oneLine(name)}`));
  if (strays.length > MOST_STRAYS) print(chalk.dim(`  and ${strays.length - MOST_STRAYS} more`));
}

/** A line of a terminal; a pipe has no width. */
const widthNow = (): number =>
  process.stdout.isTTY ? (process.stdout.columns ?? 80) : Number.POSITIVE_INFINITY;

/** Of the longest kind. */
const WIDTH = Math.max(...KINDS.map((kind) => kind.length));

const titleOf = ({ kind, path }: Item): string => oneLine(`${kind.padEnd(WIDTH)} ${path}`.trimEnd());

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

function summaryOf(steps: Step[]): string {
  if (steps.length === 0) return "nothing to change";
  const count = (change: Step["change"]) => steps.filter((step) => step.change === change).length;
  const parts = [
    `${count("create")} to create`,
    `${count("change")} to change`,
    `${count("delete")} to delete`,
  ];
  return `${counted(steps.length, "change")}: ${parts.join(", ")}`;
}

/** The fields that differ, by name. */
export function changedFields(before: Fields, after: Fields): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !Bun.deepEquals(before[name], after[name]));
}

/** What is long or generated, of which it is enough to know that it differs. */
const BY_NAME_ONLY = new Set(["lock", "schema"]);

/** Of resources and secrets no value is shown: a terminal's text is kept by others, the log of a CI run among them. */
function differenceOf({ kind }: Item, before: Fields, after: Fields): string[] {
  if (kind === "resource" || before.is_secret || after.is_secret) return [];
  const names = changedFields(before, after).filter((name) => !BY_NAME_ONLY.has(name));
  const lines: Line[] = [];
  let left_out = 0;
  for (const name of names) {
    const found = shortDiff(textOf(name, before[name]), textOf(name, after[name]), MOST_LINES - lines.length);
    lines.push(...found.lines);
    left_out += found.left_out;
  }
  const width = widthNow() - "    + ".length;
  const shown = lines.map(({ mark, text }) => {
    const line = `${mark} ${oneLine(text).slice(0, width)}`;
    return mark === "+" ? chalk.green(line) : chalk.red(line);
  });
  return left_out > 0 ? [...shown, chalk.dim(`… ${counted(left_out, "more line")}`)] : shown;
}

function textOf(name: string, value: unknown): string {
  if (value === undefined) return "";
  return name === "content" ? String(value) : toYaml({ [name]: value });
}
