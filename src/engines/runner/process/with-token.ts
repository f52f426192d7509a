import type { RunOutcome, RunRequest } from "../types.ts";
import type { Child } from "./child.ts";

/** Arguments as the child gets them: where the job's token is asked for, the token. */
export function withToken(
  { args, token_placeholder }: Pick<RunRequest, "args" | "token_placeholder">,
  child: Child,
): string {
  return token_placeholder ? args.replaceAll(token_placeholder, child.token) : args;
}

/** Masks the job's token in what is stored of its run. */
export function takeTokenOut(outcome: RunOutcome, { output: { secrets } }: Child): void {
  if (outcome.kind === "success") outcome.result = secrets.withoutToken(outcome.result);
  if ("preprocessed_args" in outcome && outcome.preprocessed_args !== undefined)
    outcome.preprocessed_args = secrets.withoutToken(outcome.preprocessed_args);
}
