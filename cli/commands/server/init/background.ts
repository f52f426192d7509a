/** Starts a server that goes on when the command has ended. */
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "../../../terminal/text/failure.ts";

export interface Serving {
  data_dir: string;
  host: string;
  port: number;
}

/** The words that start this program: the executable alone, or Bun and the file it runs from source. */
export function ownProgram(): string[] {
  return import.meta.url.includes("$bunfs") ? [process.execPath] : [process.execPath, Bun.main];
}

/** The words that start the server. */
export function serveCommand({ data_dir, host, port }: Serving): string[] {
  return [...ownProgram(), "serve", "--data-dir", data_dir, "--host", host, "--port", String(port)];
}

export interface Background {
  pid: number;
  url: string;
  log: string;
}

const POLL_MS = 50;
const PATIENCE_MS = 60_000;

/** @returns once the server has told its address @throws CliError with what the server said */
export async function startInBackground(serving: Serving): Promise<Background> {
  const log = join(serving.data_dir, "serve.log");
  const output = openSync(log, "w", 0o600);
  const child = Bun.spawn([...serveCommand(serving), "--json"], {
    stdin: "ignore",
    stdout: output,
    stderr: output,
    // Ctrl-C at this terminal, and its end, are not the server's.
    detached: true,
  });
  closeSync(output);
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const text = readFileSync(log, "utf8");
    const url = /"url": "([^"]+)"/.exec(text)?.[1];
    if (url !== undefined) {
      child.unref();
      return { pid: child.pid, url, log };
    }
    if (child.exitCode !== null) throw notStarted(text.trim());
    if (Date.now() > end) {
      child.kill();
      throw notStarted(`it said nothing for ${PATIENCE_MS / 1000} s; its log is ${log}`);
    }
    await Bun.sleep(POLL_MS);
  }
}

function notStarted(said: string): CliError {
  const message = said.replace(/^error: /, "").split("\n")[0];
  return new CliError("NotStarted", `the server did not start: ${message}`, {
    hint: "svc doctor looks at the machine and the data directory",
  });
}
