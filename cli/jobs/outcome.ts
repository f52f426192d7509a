/** Reports a completed job: its result on stdout, its error as the command's own. */
import type { JobRecord } from "../../src/features/runs/job/records.ts";
import { CliError, EXIT_CODES } from "../terminal/text/failure.ts";
import { print, printJson } from "../terminal/text/output.ts";

/** A job's error, in the shape shared by all languages. */
export interface FailedJobError {
  name: string;
  message: string;
  /** Stack lines in the user's own code. */
  trace: string | undefined;
}

/** Reads the error of a failed job; undefined if it succeeded, or failed with a result of its own choice. */
export function readJobError(job: JobRecord): FailedJobError | undefined {
  const { error } = (job.result ?? {}) as { error?: { name?: string; message?: string; stack?: string } };
  if (job.success || !error) return undefined;
  const trace = error.stack?.match(/^ +at .*$/gm)?.join("\n");
  return { name: error.name ?? "Error", message: error.message ?? "", trace };
}

interface OutcomeOptions {
  json: boolean;
  /** Text of the result stream that was already printed: a result equal to it is not printed again. */
  streamed?: string;
  /** The user interrupted it with Ctrl-C. */
  interrupted?: boolean;
}

/**
 * Prints the result, and ends the command with the job's outcome.
 * @throws CliError with the error of a failed job
 */
export function printOutcome(
  job: JobRecord,
  { json, streamed = "", interrupted = false }: OutcomeOptions,
): void {
  const isTold = streamed !== "" && job.result === streamed;
  const prints = json || (!readJobError(job) && !isTold);
  if (streamed !== "" && !streamed.endsWith("\n") && (prints || process.stdout.isTTY)) print("");
  if (prints) printJson(streamed === "" ? job.result : omitStream(job.result, streamed));
  setExitCode(job, interrupted);
}

/** Removes `wm_stream` from a result if the stream was already printed. */
function omitStream(result: unknown, streamed: string): unknown {
  const { wm_stream, ...rest } = (result ?? {}) as { wm_stream?: unknown };
  return wm_stream === streamed ? rest : result;
}

/**
 * Sets the exit code by the job's outcome.
 * @throws CliError with the error of a failed job
 */
export function setExitCode(job: JobRecord, interrupted = false): void {
  if (job.success) return;
  const exit_code = interrupted && job.canceled ? EXIT_CODES.interrupted : EXIT_CODES.failed;
  process.exitCode = exit_code;
  const error = readJobError(job);
  if (!error) return;
  const { name, message, trace } = error;
  const hint = `svc job get ${job.id} --workspace ${job.workspace_id}`;
  throw new CliError(name, `${name}: ${message}`, { trace, hint, exit_code });
}
