/**
 * Shows a job while it runs. On a terminal: its log, and below it a spinner with its state, for how long it has been in
 * it, and what is not shown above of the last line of the log. Elsewhere: the log, as it comes, and nothing else.
 */
import { chalkStderr } from "chalk";
import type { Ora } from "ora";
import { oneLine, write } from "./text/output.ts";
import { span } from "./text/times.ts";

export interface Live {
  /** What the job does now: `queued`, `running`. */
  state: (text: string) => void;
  log: (text: string) => void;
  /** Takes the spinner away for good: what else is printed on this terminal must not be overwritten. */
  stop: () => void;
}

/** Short jobs end before it; theirs is no spinner that flashes. */
const DELAY_MS = 150;
const REFRESH_MS = 100;

/** @param output where the log is shown; left out, it is not, but on a terminal for its last line */
export function openLive(output?: NodeJS.WriteStream): Live {
  const show = (text: string) => {
    if (output) write(output, text);
  };
  if (process.stderr.isTTY) return onTerminal(output, show);
  return { state: () => {}, log: show, stop: () => {} };
}

function onTerminal(output: NodeJS.WriteStream | undefined, show: (text: string) => void): Live {
  let spinner: Ora | undefined;
  let stopped = false;
  let state = "starting";
  let since = Date.now();
  let lastLine = "";
  // Held back: the spinner would be drawn behind it, and take it away with itself.
  let unended = "";
  const line = () =>
    statusLine(`${state} ${elapsed(Date.now() - since)}`, unended || (output ? "" : lastLine));
  const refresh = setInterval(() => {
    if (spinner) spinner.text = line();
  }, REFRESH_MS);
  const start = setTimeout(async () => {
    const { default: ora } = await import("ora");
    if (stopped) return;
    // With stdin discarded, Ctrl-C would come as a key, not as a signal.
    const made = ora({ text: line(), stream: process.stderr, discardStdin: false });
    if (made.isEnabled) spinner = made.start();
  }, DELAY_MS);
  return {
    state(text) {
      if (text !== state) since = Date.now();
      state = text;
    },
    log(text) {
      if (stopped) {
        show(text);
        return;
      }
      const lines = (unended + text).split("\n");
      unended = lines.pop()!;
      if (lines.length === 0) return;
      lastLine = lines.at(-1)!;
      show(`${lines.join("\n")}\n`);
    },
    stop() {
      if (stopped) return;
      stopped = true;
      clearTimeout(start);
      clearInterval(refresh);
      spinner?.stop();
      if (unended !== "") show(output?.isTTY ? `${unended}\n` : unended);
    },
  };
}

function elapsed(ms: number): string {
  return ms < 60_000 ? `${Math.floor(ms / 1000)} s` : span(ms);
}

/** State and log in one line of the terminal. */
function statusLine(state: string, log: string): string {
  const room = (process.stderr.columns ?? 80) - state.length - "x  ".length - "  ".length;
  return `${state}  ${chalkStderr.dim(oneLine(log).slice(0, Math.max(0, room)))}`;
}
