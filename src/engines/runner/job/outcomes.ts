/** How a run ended: as its process has answered, or why it has not. */
import { SvcError } from "../../../lib/errors.ts";
import type { Secrets } from "../output/secrets.ts";
import { ChildEnded, LoadFault, lostChannel } from "../process/child.ts";
import type { Done } from "../protocol.ts";
import type { ChildExit, RunnerOptions, RunOutcome, RunRequest } from "../types.ts";
import { isShortage } from "./shortage.ts";

const failure = (name: string, message: string): RunOutcome => ({
  kind: "failure",
  error: { name, message },
});

/** What a process has answered. Arguments count only where a preprocessor was asked to make them. */
export function answered(done: Done, request: RunRequest, secrets: Secrets): RunOutcome {
  const hasPreprocessor = request.preprocessor_input !== undefined;
  const preprocessed_args = hasPreprocessor ? done.preprocessed_args : undefined;
  const facts = { preprocessed_args, mem_peak_kb: done.mem_peak_kb };
  return done.error
    ? { kind: "failure", error: secrets.maskedIn(done.error), ...facts }
    : { kind: "success", result: done.result ?? "null", ...facts };
}

/** @param last what it printed last */
export function exited(exit: ChildExit, last: string): RunOutcome {
  const how = exit.signal ? `was killed by ${exit.signal}` : `exited with code ${exit.code}`;
  return failure(
    "ExecutionErr",
    `the script ${how} before it returned${last ? `; its last output:\n${last}` : ""}`,
  );
}

/** @param last what it printed last */
export function notStarted(cause: unknown, last: string, log: RunnerOptions["log"]): RunOutcome {
  if (cause instanceof LoadFault) return { kind: "failure", error: cause.error };
  if (cause instanceof ChildEnded) return exited(cause.exit, last);
  if (isShortage(cause)) return { kind: "postponed" };
  if (cause instanceof SvcError) return failure(cause.name, cause.message);
  log("error", "a job could not be started", { error: String(cause) });
  return failure("InternalErr", `the script could not be started: ${(cause as Error).message}`);
}

/** @param problem what it did on its connection, if it did not just close it */
export function disconnected(problem: string | undefined): RunOutcome {
  return failure("ExecutionErr", lostChannel(problem));
}

/** @param fault what it answered instead */
export function noResult(fault: string): RunOutcome {
  return failure("ExecutionErr", `the script's process answered ${fault}`);
}

export function tooLong(timeout_ms: number): RunOutcome {
  const seconds = timeout_ms / 1000;
  return failure("ExecutionTimeout", `the job ran longer than its limit of ${seconds} s and was stopped`);
}

/** @param most bytes */
export function streamedTooMuch(most: number): RunOutcome {
  const mb = Math.floor(most / 1_000_000);
  return failure("StreamTooLarge", `the job streamed more than the ${mb} MB allowed and was stopped`);
}
