/**
 * Shows a running job. On a terminal: its log, and below it a spinner with the state, its duration, and an unfinished
 * log line. Elsewhere: only the log.
 */
import { chalkStderr } from "chalk";
import type { Ora } from "ora";
import { toOneLine, writeText } from "./text/output.ts";
import { formatDuration } from "./text/times.ts";

export interface LiveDisplay {
  /** Sets the current state: `queued`, `running`. */
  state: (text: string) => void;
  log: (text: string) => void;
  /** Removes the spinner for good, so that it does not overwrite later output. */
  stop: () => void;
}

/** Delay before the spinner appears, so that it does not flash for short jobs. */
const SPINNER_DELAY_MS = 150;
const REFRESH_INTERVAL_MS = 100;

/**
 * Starts the display of a running job.
 * @param output where the log is shown; undefined: only its last line, beside the spinner
 */
export function startLiveDisplay(output?: NodeJS.WriteStream): LiveDisplay {
  const show = (text: string) => {
    if (output) writeText(output, text);
  };
  if (process.stderr.isTTY) return startOnTerminal(output, show);
  return { state: () => {}, log: show, stop: () => {} };
}

function startOnTerminal(output: NodeJS.WriteStream | undefined, show: (text: string) => void): LiveDisplay {
  let spinner: Ora | undefined;
  let stopped = false;
  let state = "starting";
  let since = Date.now();
  let lastLine = "";
  // An unfinished line is held back, because the spinner would erase it.
  let unended = "";
  const line = () =>
    formatStatusLine(`${state} ${formatElapsed(Date.now() - since)}`, unended || (output ? "" : lastLine));
  const refresh = setInterval(() => {
    if (spinner) spinner.text = line();
  }, REFRESH_INTERVAL_MS);
  const start = setTimeout(async () => {
    const { default: ora } = await import("ora");
    if (stopped) return;
    // With stdin discarded, Ctrl-C would arrive as a key instead of a signal.
    const made = ora({ text: line(), stream: process.stderr, discardStdin: false });
    if (made.isEnabled) spinner = made.start();
  }, SPINNER_DELAY_MS);
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

function formatElapsed(ms: number): string {
  return ms < 60_000 ? `${Math.floor(ms / 1000)} s` : formatDuration(ms);
}

/** Formats state and log as one line of the terminal. */
function formatStatusLine(state: string, log: string): string {
  const room = (process.stderr.columns ?? 80) - state.length - "x  ".length - "  ".length;
  return `${state}  ${chalkStderr.dim(toOneLine(log).slice(0, Math.max(0, room)))}`;
}
