/** Runs bash scripts: the blank child becomes the shell, and its exit ends the job. */
import { parseJson } from "../../../lib/json/json.ts";
import type { Exec } from "../protocol.ts";
import type { RunOutcome, RunRequest } from "../types.ts";
import { type Child, LoadFault } from "./child.ts";
import { execToExit, exitFailure } from "./exec.ts";
import { readResultFile } from "./result-file.ts";

/** Prefix of lines that belong to the result stream. */
const STREAM_MARK = "WM_STREAM: ";

export interface ShellRun {
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
  const exit = await execToExit(child, {
    program,
    argv: ["bash", file],
    ...prepareStart({ ...child.base_environment, ...environment }, values),
  });
  if (exit.code !== 0) return exitFailure(child, exit);
  const result = await readResultFile(child.folder, max_result);
  if (result) return result;
  const last = child.output.lastStdoutLine;
  return { kind: "success", result: last.startsWith(STREAM_MARK) ? "null" : JSON.stringify(last) };
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
