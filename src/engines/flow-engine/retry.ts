import type { Failed, Move } from "./state.ts";
import type { Retry } from "./types.ts";
import { holds, innerError } from "./values.ts";

/** Nobody waits longer than this for the next try, in seconds. */
const MAX_DELAY_S = 7 * 24 * 3600;

/**
 * Seconds until the next try: constant ones come first, then exponential ones (multiplier × seconds^n, give or take
 * random_factor percent).
 * @param tries failures before this one
 * @returns undefined when it is not to be tried again
 * @throws what `retry_if` throws
 */
export async function retryDelay(
  move: Move,
  retry: Retry,
  tries: number,
  { error, result }: Failed,
): Promise<number | undefined> {
  const constant = retry.constant?.attempts ?? 0;
  const exponential = retry.exponential;
  if (tries >= constant + (exponential?.attempts ?? 0)) return undefined;
  if (retry.retry_if) {
    const extra = { result: result ?? { value: error }, error: innerError(error) };
    if (!(await holds(move, "retry_if", retry.retry_if.expr, extra))) return undefined;
  }
  if (tries < constant) return retry.constant!.seconds;
  const { multiplier, seconds, random_factor = 0 } = exponential!;
  const delay = multiplier * seconds ** (tries - constant + 1);
  const swing = 1 + ((move.env.random() * 2 - 1) * random_factor) / 100;
  return Math.min(Math.max(0, delay * swing), MAX_DELAY_S);
}
