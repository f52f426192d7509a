/** Starts a server that continues after the command has ended. */

import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sleep } from "../../../../src/lib/async/sleep.ts";
import { CliError } from "../../../terminal/text/failure.ts";

export interface ServeTarget {
  data_dir: string;
  host: string;
  port: number;
}

/** Returns the command line of this program: the executable, or Bun and the source file. */
export function getProgramCommand(): string[] {
  return import.meta.url.includes("$bunfs") ? [process.execPath] : [process.execPath, Bun.main];
}

/** Returns the command line that starts the server. */
export function getServeCommand({ data_dir, host, port }: ServeTarget): string[] {
  return [...getProgramCommand(), "serve", "--data-dir", data_dir, "--host", host, "--port", String(port)];
}

export interface Background {
  pid: number;
  url: string;
  log: string;
}

const POLL_INTERVAL_MS = 50;
const START_TIMEOUT_MS = 60_000;

/**
 * Starts the server as a detached process and waits until it listens.
 * @returns once the server has printed its address
 * @throws CliError with the server's output
 */
export async function startInBackground(serving: ServeTarget): Promise<Background> {
  const log = join(serving.data_dir, "serve.log");
  // Written separately from the log, whose lines are JSON; the open file remains usable after it is deleted.
  const answer = join(serving.data_dir, "serve.answer");
  const output = openSync(log, "w", 0o600);
  const stdout = openSync(answer, "w", 0o600);
  const child = Bun.spawn([...getServeCommand(serving), "--json"], {
    stdin: "ignore",
    stdout,
    stderr: output,
    // Ctrl-C at this terminal, or closing it, must not end the server.
    detached: true,
  });
  closeSync(output);
  closeSync(stdout);
  try {
    return { ...(await untilStarted(child, { log, answer })), log };
  } finally {
    rmSync(answer, { force: true });
  }
}

async function untilStarted(child: Bun.Subprocess, { log, answer }: { log: string; answer: string }) {
  const end = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const url = /"url": "([^"]+)"/.exec(readFileSync(answer, "utf8"))?.[1];
    if (url !== undefined) {
      child.unref();
      return { pid: child.pid, url };
    }
    if (child.exitCode !== null) throw createStartError(readFileSync(log, "utf8").trim());
    if (Date.now() > end) {
      child.kill();
      throw createStartError(`it logged nothing for ${START_TIMEOUT_MS / 1000} s; its log is ${log}`);
    }
    await sleep(POLL_INTERVAL_MS);
  }
}

function createStartError(said: string): CliError {
  const message = said.replace(/^error: /, "").split("\n")[0];
  return new CliError("NotStarted", `the server did not start: ${message}`, {
    hint: "svc doctor looks at the machine and the data directory",
  });
}
