/** Runs bash scripts: the blank child becomes the shell, and its exit ends the job. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "../../../lib/json/json.ts";
import type { Exec } from "../protocol.ts";
import type { ChildExit, RunOutcome, RunRequest } from "../types.ts";
import { type Child, ChildEnded, LoadFault } from "./child.ts";

/** Prefix of lines that belong to the result stream. */
const STREAM_MARK = "WM_STREAM: ";

interface ShellRun {
  child: Child;
  request: RunRequest;
  environment: Record<string, string>;
  file: string;
  max_result: number;
}

/** @throws LoadFault if bash is missing */
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
      ...prepareStart({ ...child.base_environment, ...environment }, values),
      keep_channel: false,
    });
  });
  if (exit.code !== 0) {
    const how = exit.signal ? `was killed by ${exit.signal}` : `exited with code ${exit.code}`;
    const last = child.output.lastLines();
    const message = `the script ${how}${last ? `; its last output:\n${last}` : ""}`;
    return { kind: "failure", error: { name: "ExecutionErr", message } };
  }
  return readResult(child, max_result);
}

/** Variables that keep bash from reading its prelude, or locate it; they are set in the prelude instead. */
const STARTUP_VARIABLES = ["BASH_ENV", "POSIXLY_CORRECT"];

/** Passes `$1`, `$2`, … by a prelude, because a program's arguments are visible to other users. */
function prepareStart(
  environment: Record<string, string>,
  values: string[],
): Pick<Exec, "environment" | "prelude"> {
  const plain = { ...environment };
  const prelude = ["unset BASH_ENV"];
  for (const name of STARTUP_VARIABLES) {
    if (plain[name] === undefined) continue;
    prelude.push(`export ${name}=${quoteForBash(plain[name])}`);
    delete plain[name];
  }
  prelude.push(`set -- ${values.map(quoteForBash).join(" ")}`);
  return { environment: plain, prelude: prelude.join("\n") };
}

/** Quotes a text as one bash word, which cannot contain NUL. */
function quoteForBash(text: string): string {
  return `'${text.replaceAll("\0", "").replaceAll("'", "'\\''")}'`;
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * Returns result.json or result.out if the script wrote one, else the last printed line. A last line that belongs to
 * the stream gives null.
 */
async function readResult(child: Child, max_result: number): Promise<RunOutcome> {
  for (const name of ["result.json", "result.out"]) {
    const path = join(child.folder, name);
    const found = await readOwnFile(path, max_result);
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
 * Reads a file written by a script; `text` is absent if it is larger than `most` bytes. As it is read with the server's
 * rights, only a regular file with a single link counts: no links to the server's files, no endless pipes.
 */
async function readOwnFile(path: string, most: number): Promise<{ text: string | undefined } | undefined> {
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
