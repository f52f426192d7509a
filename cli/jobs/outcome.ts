/** How a completed job is told: its result on stdout; what it failed with as the command's own error. */
import type { JobRecord } from "../../src/features/runs/job/records.ts";
import { CliError, EXIT } from "../terminal/text/failure.ts";
import { print, printJson } from "../terminal/text/output.ts";

/** What a job failed with, in the shape that all languages' errors have. */
export interface JobError {
  name: string;
  message: string;
  /** Lines of the stack that lie in the person's own code. */
  trace: string | undefined;
}

/** The error of a failed job; undefined when it ended well, or chose a result of its own for its failure. */
export function errorOf(job: JobRecord): JobError | undefined {
  const { error } = (job.result ?? {}) as { error?: { name?: string; message?: string; stack?: string } };
  if (job.success || !error) return undefined;
  const trace = error.stack?.match(/^ +at .*$/gm)?.join("\n");
  return { name: error.name ?? "Error", message: error.message ?? "", trace };
}

interface Told {
  json: boolean;
  /** What was printed of its result stream already: a result that is all of it is not printed again. */
  streamed?: string;
  /** The person at the terminal ended it. */
  interrupted?: boolean;
}

/**
 * Prints the result, and ends the command as the job ended.
 * @throws CliError with the error of a failed job
 */
export function tellOutcome(job: JobRecord, { json, streamed = "", interrupted = false }: Told): void {
  const isTold = streamed !== "" && job.result === streamed;
  const prints = json || (!errorOf(job) && !isTold);
  if (streamed !== "" && !streamed.endsWith("\n") && (prints || process.stdout.isTTY)) print("");
  if (prints) printJson(streamed === "" ? job.result : withoutStream(job.result, streamed));
  endLike(job, interrupted);
}

/** The field in which a result has the stream that came beside it says nothing new to who has seen the stream. */
function withoutStream(result: unknown, streamed: string): unknown {
  const { wm_stream, ...rest } = (result ?? {}) as { wm_stream?: unknown };
  return wm_stream === streamed ? rest : result;
}

/**
 * Sets the exit code that tells how the job ended.
 * @throws CliError with the error of a failed job
 */
export function endLike(job: JobRecord, interrupted = false): void {
  if (job.success) return;
  const exit_code = interrupted && job.canceled ? EXIT.interrupted : EXIT.failed;
  process.exitCode = exit_code;
  const error = errorOf(job);
  if (!error) return;
  const { name, message, trace } = error;
  const hint = `svc job get ${job.id} --workspace ${job.workspace_id}`;
  throw new CliError(name, `${name}: ${message}`, { trace, hint, exit_code });
}
