/**
 * Shows the steps of a running flow. On a terminal: as a tree with their states, redrawn on changes; the last state
 * stays visible. Elsewhere: one line per completed step.
 */
import { chalkStderr } from "chalk";
import type { Ora } from "ora";
import { printNote, toOneLine } from "../text/output.ts";
import { formatDuration } from "../text/times.ts";

export type StepState = "waiting" | "running" | "approval" | "success" | "failure" | "skipped";

export interface StepLine {
  id: string;
  /** Id of its job; undefined if it has not started. */
  job: string | undefined;
  title: string;
  state: StepState;
  /** Duration in milliseconds, so far if it is running; undefined if it has not started or has no duration. */
  ms: number | undefined;
  /** Number of started iterations, and of all. */
  count: string | undefined;
  inner: StepLine[];
}

export interface StepTree {
  show: (lines: StepLine[]) => void;
  /** Prints a text above the tree. */
  note: (text: string) => void;
  /** Stops the display; on a terminal the tree stays. */
  stop: () => void;
}

const STATE_MARKS: Record<StepState, string> = {
  waiting: chalkStderr.dim("○"),
  running: chalkStderr.cyan("●"),
  approval: chalkStderr.yellow("?"),
  success: chalkStderr.green("✓"),
  failure: chalkStderr.red("✗"),
  skipped: chalkStderr.dim("–"),
};

export async function startStepTree(title: string): Promise<StepTree> {
  return process.stderr.isTTY ? startTreeOnTerminal(title) : startLineOutput();
}

async function startTreeOnTerminal(title: string): Promise<StepTree> {
  const { default: ora } = await import("ora");
  // With stdin discarded, Ctrl-C would arrive as a key instead of a signal.
  const spinner: Ora = ora({ text: title, stream: process.stderr, discardStdin: false }).start();
  let last: StepLine[] = [];
  return {
    show(lines) {
      last = lines;
      // Lines beyond the terminal's height could not be erased.
      const limit = Math.max(1, (process.stderr.rows ?? 24) - 2);
      spinner.text = [title, ...drawLines(lines)].slice(0, limit).join("\n");
    },
    note(text) {
      spinner.clear();
      printNote(text);
    },
    stop() {
      if (!spinner.isSpinning) return;
      spinner.stop();
      for (const line of drawLines(last)) printNote(line);
    },
  };
}

/** Draws the steps with the ids of their jobs; ids are never truncated. */
export function drawStepsWithJobs(lines: StepLine[], width: number): string[] {
  return drawLines(lines, "", { width, jobs: true });
}

interface DrawOptions {
  width: number;
  /** Adds the ids of the steps' jobs. */
  jobs: boolean;
}

function drawLines(
  lines: StepLine[],
  before = "",
  options: DrawOptions = { width: process.stderr.columns ?? 80, jobs: false },
): string[] {
  return lines.flatMap((line, index) => {
    const isLast = index === lines.length - 1;
    const width = options.width - before.length - 6;
    const text = toOneLine(`${line.id}  ${line.title}`);
    const facts = [formatFacts(line), options.jobs ? line.job : ""].filter(Boolean).join("  ");
    const limit = Math.max(1, width - facts.length - 2);
    const shown = text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
    const own = `${before}${isLast ? "└─ " : "├─ "}${STATE_MARKS[line.state]} ${shown}  ${chalkStderr.dim(facts)}`;
    return [own.trimEnd(), ...drawLines(line.inner, `${before}${isLast ? "   " : "│  "}`, options)];
  });
}

function formatFacts({ state, count, ms }: StepLine): string {
  const waits = state === "approval" ? "waits for approval" : undefined;
  return [waits, count, ms === undefined ? undefined : formatDuration(ms)]
    .filter((fact) => fact !== undefined)
    .join(", ");
}

function startLineOutput(): StepTree {
  const told = new Set<string>();
  const tell = (lines: StepLine[]) => {
    for (const line of lines) {
      tell(line.inner);
      if (line.state === "waiting" || line.state === "running" || told.has(line.id)) continue;
      told.add(line.id);
      const facts = formatFacts(line);
      printNote(`${line.id}: ${line.state}${facts === "" ? "" : `, ${facts}`}`);
    }
  };
  return { show: tell, note: printNote, stop: () => {} };
}
