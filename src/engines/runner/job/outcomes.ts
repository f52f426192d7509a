/** Outcomes of a run: the process's answer, or the reason why there is none. */
import { SvcError } from "../../../lib/errors.ts";
import { type ChildOutput, STREAM_MARK } from "../output/child-output.ts";
import { ChildEnded, describeLostChannel, LoadFault } from "../process/child.ts";
import { isHosted } from "../programs/hosted.ts";
import type { Done } from "../protocol.ts";
import type { ChildExit, RunnerOptions, RunOutcome, RunRequest } from "../types.ts";
import { isShortage } from "./shortage.ts";

export const createFailure = (name: string, message: string): RunOutcome => ({
  kind: "failure",
  error: { name, message },
});

/**
 * Converts the answer of a process to an outcome. Its arguments are used only if a preprocessor was to create them.
 */
export function createAnswerOutcome(done: Done, request: RunRequest, output: ChildOutput): RunOutcome {
  const { exit } = done;
  const { language } = request.version;
  if (isHosted(language) && !done.error && exit?.code !== 0)
    return createExitFailure(exit, output.lastLines());
  const hasPreprocessor = request.preprocessor_input !== undefined;
  const preprocessed_args = hasPreprocessor ? done.preprocessed_args : undefined;
  const facts = { preprocessed_args, mem_peak_kb: done.mem_peak_kb };
  if (done.error) return { kind: "failure", error: output.secrets.maskValue(done.error), ...facts };
  const result = done.result ?? (language === "bash" ? createLastLineResult(output) : "null");
  return { kind: "success", result, ...facts };
}

/** Returns the result of a shell script that set none: its last line of output. */
function createLastLineResult({ lastStdoutLine: last }: ChildOutput): string {
  return last.startsWith(STREAM_MARK) ? "null" : JSON.stringify(last);
}

/**
 * Creates the failure of a program that exited without storing a result.
 * @param exit exit status of the program
 * @param last its last output
 */
export function createExitFailure(exit: ChildExit | undefined, last: string): RunOutcome {
  const message = `the script ${describeExit(exit)}${last ? `; its last output:\n${last}` : ""}`;
  return createFailure("ExecutionErr", message);
}

function describeExit(exit: ChildExit | undefined): string {
  return exit?.signal ? `was killed by ${exit.signal}` : `exited with code ${exit?.code}`;
}

/** Creates the outcome of a script whose child process exited before it answered. @param last its last output */
export function createExitOutcome(exit: ChildExit, last: string): RunOutcome {
  return createFailure(
    "ExecutionErr",
    `the script ${describeExit(exit)} before it returned${last ? `; its last output:\n${last}` : ""}`,
  );
}

/** Creates the outcome of a run whose process could not be started. @param last its last output */
export function createStartFailure(cause: unknown, last: string, log: RunnerOptions["log"]): RunOutcome {
  if (cause instanceof LoadFault) return { kind: "failure", error: cause.error };
  if (cause instanceof ChildEnded) return createExitOutcome(cause.exit, last);
  if (isShortage(cause)) return { kind: "postponed" };
  if (cause instanceof SvcError) return createFailure(cause.name, cause.message);
  log("error", "a job could not be started", { error: String(cause) });
  return createFailure("InternalErr", `the script could not be started: ${(cause as Error).message}`);
}

/** Creates the outcome of a run that this server must not start. @param why reason why no job may run on this server */
export function createRefusedOutcome(why: string): RunOutcome {
  return createFailure("SandboxUnavailable", `no job runs on this server: ${why}`);
}

/**
 * Creates the outcome of a run whose child closed its channel.
 * @param problem protocol violation on the channel; undefined if it was only closed
 */
export function createDisconnectedOutcome(problem: string | undefined): RunOutcome {
  return createFailure("ExecutionErr", describeLostChannel(problem));
}

/** Creates the outcome of a run whose child sent an invalid answer. @param fault description of the invalid answer */
export function createInvalidAnswerOutcome(fault: string): RunOutcome {
  return createFailure("ExecutionErr", `the script's process answered ${fault}`);
}

export function createTimeoutOutcome(timeout_ms: number): RunOutcome {
  const seconds = timeout_ms / 1000;
  return createFailure(
    "ExecutionTimeout",
    `the job ran longer than its limit of ${seconds} s and was stopped`,
  );
}

/** Creates the outcome of a run that exceeded the size limit of its result stream. @param limit limit in bytes */
export function createStreamTooLargeOutcome(limit: number): RunOutcome {
  const mb = Math.floor(limit / 1_000_000);
  return createFailure("StreamTooLarge", `the job streamed more than the ${mb} MB allowed and was stopped`);
}
