import type { ModuleFailure, TransitionContext } from "./state.ts";
import type { Retry } from "./types.ts";
import { evaluateCondition, unwrapError } from "./values.ts";

/** Maximum retry delay in seconds. */
const MAX_DELAY_S = 7 * 24 * 3600;

/**
 * Returns the seconds until the next attempt: first the constant delays, then exponential ones (multiplier × seconds^n,
 * varied by random_factor percent).
 * @param tries earlier failures
 * @returns undefined if there is no further attempt
 * @throws errors of `retry_if`
 */
export async function evaluateRetryDelay(
  move: TransitionContext,
  retry: Retry,
  tries: number,
  { error, result }: ModuleFailure,
): Promise<number | undefined> {
  const constant = retry.constant?.attempts ?? 0;
  const exponential = retry.exponential;
  if (tries >= constant + (exponential?.attempts ?? 0)) return undefined;
  if (retry.retry_if) {
    const extra = { result: result ?? { value: error }, error: unwrapError(error) };
    if (!(await evaluateCondition(move, "retry_if", retry.retry_if.expr, extra))) return undefined;
  }
  if (tries < constant) return retry.constant!.seconds;
  const { multiplier, seconds, random_factor = 0 } = exponential!;
  const delay = multiplier * seconds ** (tries - constant + 1);
  const swing = 1 + ((move.env.random() * 2 - 1) * random_factor) / 100;
  return Math.min(Math.max(0, delay * swing), MAX_DELAY_S);
}
