/** Runs scripts of languages that a program of the machine runs, and compiled ones; the program's exit ends the job. */
import { join } from "node:path";
import { parseJson } from "../../../lib/json/json.ts";
import { programOf } from "../../languages/programs/table.ts";
import { type Child, LoadFault } from "../process/child.ts";
import { execToExit, exitFailure } from "../process/exec.ts";
import { readOwnFile, readResultFile } from "../process/result-file.ts";
import type { ShellRun } from "../process/shell.ts";
import type { JobError, RunOutcome } from "../types.ts";
import type { Tool } from "./tools.ts";

const MAX_ERROR_BYTES = 1_000_000;

export interface ProgramRun extends ShellRun {
  /** Undefined for a compiled script. */
  tool: Tool | undefined;
  /** Folder of the programs that call `main`. */
  wrappers: string;
}

/** The arguments are the standard input; the result and an error are files. @throws LoadFault, ChildEnded */
export async function runProgram(o: ProgramRun): Promise<RunOutcome> {
  const { child, request, environment, file, max_result, tool, wrappers } = o;
  const { entrypoint, version } = request;
  if (entrypoint !== "main") {
    const message = `${version.language} scripts have no functions that can be run by name`;
    throw new LoadFault({ name: "ExecutionErr", message });
  }
  const { run } = programOf(version.language)!;
  const program = "wrapper" in run ? tool!.program : file;
  const argv = "wrapper" in run ? run.argv(join(wrappers, run.wrapper), file) : [];
  const exit = await execToExit(child, {
    program,
    argv: [program, ...argv],
    environment: { LANG: "C.UTF-8", ...child.base_environment, ...environment },
    input: request.args,
  });
  if (exit.code !== 0) {
    const error = await readError(child);
    return error
      ? { kind: "failure", error: child.output.secrets.maskValue(error) }
      : exitFailure(child, exit);
  }
  return (await readResultFile(child.folder, max_result)) ?? { kind: "success", result: "null" };
}

/** Reads the error that `main` ended with. */
async function readError(child: Child): Promise<JobError | undefined> {
  const text = (await readOwnFile(join(child.folder, "error.json"), MAX_ERROR_BYTES))?.bytes?.toString();
  if (text === undefined) return undefined;
  try {
    const { name, message, stack } = parseJson(text) as Partial<Record<keyof JobError, unknown>>;
    if (typeof name !== "string" || typeof message !== "string") return undefined;
    return { name, message, ...(typeof stack === "string" && stack !== "" ? { stack } : {}) };
  } catch {
    return undefined;
  }
}
