/** Reports a completed job: its result on stdout, its error as the command's own. */
import type { JobRecord } from "../../src/features/runs/job/records.ts";
import { CliError, EXIT_CODES } from "../terminal/text/failure.ts";
import { print, printJson } from "../terminal/text/output.ts";

/** A job's error, in the shape shared by all languages. */
export interface FailedJobError {
  name: string;
  message: string;
  /** The message; that of an exception with the name of its class, if it has one of its own: `TypeError: no tea`. */
  title: string;
  /** Stack lines in the user's own code. */
  trace: string | undefined;
}

/**
 * Reads the error of a failed job; undefined if it succeeded, or its result declares a failure itself.
 * @param file the local file that was run, named in the trace so that editors can open its lines
 */
export function readJobError(job: JobRecord, file?: string): FailedJobError | undefined {
  const { error } = (job.result ?? {}) as { error?: { name?: string; message?: string; stack?: string } };
  if (job.success || !error) return undefined;
  const name = error.name ?? "Error";
  const message = prependFileName(error.message ?? "", file);
  // Errors of svc itself and of its tools have no stack in the script; their names say less than their messages.
  const title = error.stack && name !== "Error" ? `${name}: ${message}` : message;
  return { name, message, title, trace: insertFileName(readTrace(error.stack ?? ""), file) };
}

/** Prepends the file's name to the position of a syntax error, in the form that editors recognize. */
export function prependFileName(message: string, file: string | undefined): string {
  if (file === undefined) return message;
  const place = (_: string, line: string, column: string) => `${file}:${line}:${column}: syntax error: `;
  return message.replace(/^Syntax error at line (\d+), column (\d+): (?:syntax error[,:]? )?/, place);
}

/** Returns the lines of a stack with positions: ` at …` in TypeScript, `File …` and the code below in Python. */
function readTrace(stack: string): string | undefined {
  const lines = stack.match(/^ +at .*$/gm) ?? stack.match(/^ +(?=\S).*$/gm);
  return lines?.join("\n");
}

/** Writes the file's name where a trace says `script`. */
function insertFileName(trace: string | undefined, file: string | undefined): string | undefined {
  if (file === undefined) return trace;
  return trace
    ?.replace(/(?<=[\s(])script(?=:\d+)/g, () => file)
    .replace(/File "script", line (\d+)/g, (_, line: string) => `File "${file}", line ${line}`);
}

interface OutcomeOptions {
  /** The local file that was run. */
  file?: string | undefined;
  json: boolean;
  /** Text of the result stream that was already printed: a result equal to it is not printed again. */
  streamed?: string;
  /** Whether the user interrupted it with Ctrl-C. */
  interrupted?: boolean;
}

/** Prints the result and sets the exit code by the job's outcome. @throws CliError with the error of a failed job */
export function printOutcome(
  job: JobRecord,
  { json, streamed = "", interrupted = false, file }: OutcomeOptions,
): void {
  const isTold = streamed !== "" && job.result === streamed;
  const prints = json || (!readJobError(job) && !isTold);
  if (streamed !== "" && !streamed.endsWith("\n") && (prints || process.stdout.isTTY)) print("");
  if (prints) printJson(streamed === "" ? job.result : omitStream(job.result, streamed));
  setExitCode(job, { interrupted, file });
}

/** Removes `wm_stream` from a result if the stream was already printed. */
function omitStream(result: unknown, streamed: string): unknown {
  const { wm_stream, ...rest } = (result ?? {}) as { wm_stream?: unknown };
  return wm_stream === streamed ? rest : result;
}

/** Describes what to add if a script imports a module that is not installed; undefined for other errors. */
export function describeMissingModule(message: string): string | undefined {
  const [, python] = /No module named '([\w.]+)'/.exec(message) ?? [];
  if (python !== undefined) {
    const name = python.split(".")[0];
    return `add the package that has the module ${name} at the top of the script:\n  # extra_requirements:\n  # ${name}`;
  }
  const [, npm] = /Cannot find (?:package|module) '([^'./][^']*)'/.exec(message) ?? [];
  if (npm === undefined) return undefined;
  return `import it by the name of its npm package, with a version if need be, such as "${npm}@1.0.0"`;
}

/**
 * Sets the exit code by the job's outcome.
 * @throws CliError with the error of a failed job
 */
export function setExitCode(
  job: JobRecord,
  { interrupted = false, file }: Pick<OutcomeOptions, "interrupted" | "file"> = {},
): void {
  if (job.success) return;
  const exit_code = interrupted && job.canceled ? EXIT_CODES.interrupted : EXIT_CODES.failed;
  process.exitCode = exit_code;
  const error = readJobError(job, file);
  if (!error) return;
  const { name, message, title, trace } = error;
  const said = job.canceled
    ? `canceled by ${job.canceled_by ?? "somebody"}: ${job.canceled_reason ?? "no reason was given"}`
    : title;
  const hint = describeMissingModule(message) ?? `svc job show ${job.id} --workspace ${job.workspace_id}`;
  throw new CliError(name, said, { trace, hint, exit_code });
}
