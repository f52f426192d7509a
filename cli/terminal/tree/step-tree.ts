/**
 * Shows the steps of a flow while it runs. On a terminal: as a tree with the state of each, drawn again as it changes,
 * which stays at the end. Elsewhere: a line for each step that has ended.
 */
import { chalkStderr } from "chalk";
import type { Ora } from "ora";
import { note, oneLine } from "../text/output.ts";
import { span } from "../text/times.ts";

export type StepState = "waiting" | "running" | "approval" | "success" | "failure" | "skipped";

export interface StepLine {
  id: string;
  title: string;
  state: StepState;
  /** How long it took, or has been running; undefined before it begins, and for what takes no time. */
  ms: number | undefined;
  /** Iterations: begun, of how many. */
  count: string | undefined;
  inner: StepLine[];
}

export interface StepTree {
  show: (lines: StepLine[]) => void;
  /** Nothing more is shown; on a terminal the tree stays. */
  stop: () => void;
}

const MARKS: Record<StepState, string> = {
  waiting: chalkStderr.dim("○"),
  running: chalkStderr.cyan("●"),
  approval: chalkStderr.yellow("?"),
  success: chalkStderr.green("✓"),
  failure: chalkStderr.red("✗"),
  skipped: chalkStderr.dim("–"),
};

export async function openStepTree(title: string): Promise<StepTree> {
  return process.stderr.isTTY ? onTerminal(title) : asLines();
}

async function onTerminal(title: string): Promise<StepTree> {
  const { default: ora } = await import("ora");
  // With stdin discarded, Ctrl-C would come as a key, not as a signal.
  const spinner: Ora = ora({ text: title, stream: process.stderr, discardStdin: false }).start();
  let last: StepLine[] = [];
  return {
    show(lines) {
      last = lines;
      // More lines than fit could not be taken back.
      const most = Math.max(1, (process.stderr.rows ?? 24) - 2);
      spinner.text = [title, ...drawn(lines)].slice(0, most).join("\n");
    },
    stop() {
      if (!spinner.isSpinning) return;
      spinner.stop();
      for (const line of drawn(last)) note(line);
    },
  };
}

function drawn(lines: StepLine[], before = ""): string[] {
  return lines.flatMap((line, index) => {
    const isLast = index === lines.length - 1;
    const width = (process.stderr.columns ?? 80) - before.length - 6;
    const text = oneLine(`${line.id}  ${line.title}`);
    const facts = factsOf(line);
    const shown = text.slice(0, Math.max(1, width - facts.length - 2));
    const own = `${before}${isLast ? "└─ " : "├─ "}${MARKS[line.state]} ${shown}  ${chalkStderr.dim(facts)}`;
    return [own.trimEnd(), ...drawn(line.inner, `${before}${isLast ? "   " : "│  "}`)];
  });
}

function factsOf({ state, count, ms }: StepLine): string {
  const waits = state === "approval" ? "waits for approval" : undefined;
  return [waits, count, ms === undefined ? undefined : span(ms)]
    .filter((fact) => fact !== undefined)
    .join(", ");
}

function asLines(): StepTree {
  const told = new Set<string>();
  const tell = (lines: StepLine[]) => {
    for (const line of lines) {
      tell(line.inner);
      if (line.state === "waiting" || line.state === "running" || told.has(line.id)) continue;
      told.add(line.id);
      const facts = factsOf(line);
      note(`${line.id}: ${line.state}${facts === "" ? "" : `, ${facts}`}`);
    }
  };
  return { show: tell, stop: () => {} };
}
