/** How a run ended: as its process has answered, or why it has not. */
import { SvcError } from "../../../lib/errors.ts";
import type { Secrets } from "../output/secrets.ts";
import { ChildEnded, describeLostChannel, LoadFault } from "../process/child.ts";
import type { Done } from "../protocol.ts";
import type { ChildExit, RunnerOptions, RunOutcome, RunRequest } from "../types.ts";
import { isShortage } from "./shortage.ts";

const createFailure = (name: string, message: string): RunOutcome => ({
  kind: "failure",
  error: { name, message },
});

/** Reply of a process. Its arguments are used only if a preprocessor was to create them. */
export function answered(done: Done, request: RunRequest, secrets: Secrets): RunOutcome {
  const hasPreprocessor = request.preprocessor_input !== undefined;
  const preprocessed_args = hasPreprocessor ? done.preprocessed_args : undefined;
  const facts = { preprocessed_args, mem_peak_kb: done.mem_peak_kb };
  return done.error
    ? { kind: "failure", error: secrets.maskValue(done.error), ...facts }
    : { kind: "success", result: done.result ?? "null", ...facts };
}

/** @param last its last output */
export function exitedOutcome(exit: ChildExit, last: string): RunOutcome {
  const how = exit.signal ? `was killed by ${exit.signal}` : `exited with code ${exit.code}`;
  return createFailure(
    "ExecutionErr",
    `the script ${how} before it returned${last ? `; its last output:\n${last}` : ""}`,
  );
}

/** @param last its last output */
export function notStartedOutcome(cause: unknown, last: string, log: RunnerOptions["log"]): RunOutcome {
  if (cause instanceof LoadFault) return { kind: "failure", error: cause.error };
  if (cause instanceof ChildEnded) return exitedOutcome(cause.exit, last);
  if (isShortage(cause)) return { kind: "postponed" };
  if (cause instanceof SvcError) return createFailure(cause.name, cause.message);
  log("error", "a job could not be started", { error: String(cause) });
  return createFailure("InternalErr", `the script could not be started: ${(cause as Error).message}`);
}

/** @param problem protocol violation on the channel; undefined if it was only closed */
export function disconnectedOutcome(problem: string | undefined): RunOutcome {
  return createFailure("ExecutionErr", describeLostChannel(problem));
}

/** @param fault description of the invalid answer */
export function invalidAnswerOutcome(fault: string): RunOutcome {
  return createFailure("ExecutionErr", `the script's process answered ${fault}`);
}

export function timeoutOutcome(timeout_ms: number): RunOutcome {
  const seconds = timeout_ms / 1000;
  return createFailure(
    "ExecutionTimeout",
    `the job ran longer than its limit of ${seconds} s and was stopped`,
  );
}

/** @param limit limit in bytes */
export function streamTooLargeOutcome(limit: number): RunOutcome {
  const mb = Math.floor(limit / 1_000_000);
  return createFailure("StreamTooLarge", `the job streamed more than the ${mb} MB allowed and was stopped`);
}
