import type { RunOutcome, RunRequest } from "../types.ts";
import type { Child } from "./child.ts";

/** Returns the arguments with the placeholder replaced by the job's token. */
export function insertToken(
  { args, token_placeholder }: Pick<RunRequest, "args" | "token_placeholder">,
  token: string,
): string {
  return token_placeholder ? args.replaceAll(token_placeholder, token) : args;
}

/** Masks the job's token in the parts of an outcome that are stored. */
export function maskTokenIn(outcome: RunOutcome, { output: { secrets } }: Child): void {
  if (outcome.kind === "success") outcome.result = secrets.maskToken(outcome.result);
  if ("preprocessed_args" in outcome && outcome.preprocessed_args !== undefined)
    outcome.preprocessed_args = secrets.maskToken(outcome.preprocessed_args);
}
