/** A bash run: the blank child becomes the shell, and its end is the job's. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "../../../lib/json/json.ts";
import type { Exec } from "../protocol.ts";
import type { ChildExit, RunOutcome, RunRequest } from "../types.ts";
import { type Child, ChildEnded, LoadFault } from "./child.ts";

/** Begins a line that belongs to the result stream. */
const STREAM_MARK = "WM_STREAM: ";

interface ShellRun {
  child: Child;
  request: RunRequest;
  environment: Record<string, string>;
  file: string;
  max_result: number;
}

/** @throws LoadFault when there is no bash */
export async function runShell({
  child,
  request,
  environment,
  file,
  max_result,
}: ShellRun): Promise<RunOutcome> {
  const program = Bun.which("bash");
  if (!program)
    throw new LoadFault({ name: "ExecutionErr", message: "bash is not installed on this server" });
  const args = parseJson(request.args) as Record<string, unknown>;
  const values = request.version.parameters.map(({ name, default: initial }) =>
    toText(args[name] ?? initial),
  );
  const exit = await new Promise<ChildExit>((resolve, reject) => {
    child.onExit = resolve;
    child.onMessage = (message) => {
      if (message.t === "load_failed") reject(new LoadFault(message.error));
    };
    if (child.exited) reject(new ChildEnded(child.exited));
    child.send({
      t: "exec",
      program,
      argv: ["bash", file],
      ...started({ ...child.base, ...environment }, values),
      keep_channel: false,
    });
  });
  if (exit.code !== 0) {
    const how = exit.signal ? `was killed by ${exit.signal}` : `exited with code ${exit.code}`;
    const last = child.output.lastLines();
    const message = `the script ${how}${last ? `; its last output:\n${last}` : ""}`;
    return { kind: "failure", error: { name: "ExecutionErr", message } };
  }
  return resultOf(child, max_result);
}

/** What would keep bash from reading its prelude, or is where it finds it: such variables are set in the prelude. */
const DECIDE_THE_START = ["BASH_ENV", "POSIXLY_CORRECT"];

/** Other users of the machine can read what a program is started with, so `$1`, `$2`, … are set by a prelude. */
function started(
  environment: Record<string, string>,
  values: string[],
): Pick<Exec, "environment" | "prelude"> {
  const plain = { ...environment };
  const prelude = ["unset BASH_ENV"];
  for (const name of DECIDE_THE_START) {
    if (plain[name] === undefined) continue;
    prelude.push(`export ${name}=${quoted(plain[name])}`);
    delete plain[name];
  }
  prelude.push(`set -- ${values.map(quoted).join(" ")}`);
  return { environment: plain, prelude: prelude.join("\n") };
}

/** As one word of bash. A word has no NULs. */
function quoted(text: string): string {
  return `'${text.replaceAll("\0", "").replaceAll("'", "'\\''")}'`;
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * result.json or result.out where the script wrote one, else the last line it printed. A last line that went to the
 * stream is no result beside it.
 */
async function resultOf(child: Child, max_result: number): Promise<RunOutcome> {
  for (const name of ["result.json", "result.out"]) {
    const path = join(child.folder, name);
    const found = await readOwn(path, max_result);
    if (!found) continue;
    const { text } = found;
    if (text === undefined) {
      const message = `${name} is larger than the ${Math.floor(max_result / 1_000_000)} MB a result may have`;
      return { kind: "failure", error: { name: "ResultTooLarge", message } };
    }
    if (name === "result.out") return { kind: "success", result: JSON.stringify(text.trimEnd()) };
    try {
      return { kind: "success", result: JSON.stringify(parseJson(text)) };
    } catch (cause) {
      const message = `result.json is not JSON: ${(cause as Error).message}`;
      return { kind: "failure", error: { name: "ResultNotSerializable", message } };
    }
  }
  const last = child.output.lastStdoutLine;
  return { kind: "success", result: last.startsWith(STREAM_MARK) ? "null" : JSON.stringify(last) };
}

/**
 * The text of a file that a script wrote; without `text` it is larger than `most` bytes. Read with the server's rights,
 * so what is no plain file of its own (a link to one of the server's, a pipe without an end) is none.
 */
async function readOwn(path: string, most: number): Promise<{ text: string | undefined } | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (!file) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.nlink > 1) return undefined;
    return { text: stats.size > most ? undefined : await file.readFile("utf8") };
  } finally {
    await file.close();
  }
}
