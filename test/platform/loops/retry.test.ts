/** Waiting and retrying. */
import { describe, expect, test } from "bun:test";
import { computeBackoffMs, retryWithBackoff } from "../../../src/lib/async/retry.ts";
import { raceAbort, sleep } from "../../../src/lib/async/sleep.ts";

describe("a backoff", () => {
  const backoff = { first_ms: 1_000, max_ms: 60_000 };
  const least = () => 1;
  const most = () => 0;

  test("doubles up to its limit", () => {
    const delays = [1, 2, 3, 6, 7, 1_000].map((failures) => computeBackoffMs(backoff, failures, most));
    expect(delays).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000]);
  });

  test("adds jitter to each delay", () => {
    expect(computeBackoffMs({ ...backoff, jitter: 0.5 }, 1, least)).toBe(500);
    expect(computeBackoffMs({ ...backoff, jitter: 0 }, 1, least)).toBe(1_000);
    const drawn = Array.from({ length: 100 }, () => computeBackoffMs(backoff, 50));
    expect(new Set(drawn).size).toBeGreaterThan(90);
    for (const delay of drawn) expect(delay >= 45_000 && delay <= 60_000).toBe(true);
  });
});

describe("retrying", () => {
  const soon = { backoff: { first_ms: 1, max_ms: 1 }, isRetryable: () => true };

  test("retries until it succeeds, and reports each failure", async () => {
    const told: number[] = [];
    const onRetry = (_: unknown, __: number, failures: number) => void told.push(failures);
    const value = await retryWithBackoff({ ...soon, onRetry }, async (failures) => {
      if (failures < 3) throw new Error("not yet");
      return failures;
    });
    expect([value, told]).toEqual([3, [1, 2, 3]]);
  });

  test("does not retry an error that is not retryable", async () => {
    const isRetryable = (cause: unknown) => (cause as Error).message === "not yet";
    const work = retryWithBackoff({ ...soon, isRetryable }, async (failures) => {
      throw new Error(failures === 0 ? "not yet" : "never");
    });
    expect(work).rejects.toThrow("never");
  });

  test("rejects with the last error once it is aborted", async () => {
    const stopping = new AbortController();
    const work = retryWithBackoff(
      { ...soon, backoff: { first_ms: 60_000, max_ms: 60_000 }, signal: stopping.signal },
      async () => {
        throw new Error("not yet");
      },
    );
    stopping.abort();
    expect(work).rejects.toThrow("not yet");
  });
});

/** Counts the listeners that a signal has. */
function counted(): { signal: AbortSignal; abort: () => void; listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...given: unknown[]) => {
    listeners++;
    add(...(given as Parameters<typeof add>));
  };
  signal.removeEventListener = (...given: unknown[]) => {
    listeners--;
    remove(...(given as Parameters<typeof remove>));
  };
  return { signal, abort: () => controller.abort(), listeners: () => listeners };
}

test("a thousand completed sleeps and races leave no listener on their signal", async () => {
  const { signal, listeners } = counted();
  await Promise.all(Array.from({ length: 1_000 }, () => sleep(1, signal)));
  for (let n = 0; n < 1_000; n++) expect(await raceAbort(Promise.resolve(n), signal)).toBe(n);
  await raceAbort(Promise.reject(new Error("no")), signal).catch(() => {});
  expect(listeners()).toBe(0);
});

test("sleep and raceAbort resolve as soon as the signal is aborted", async () => {
  const { signal, abort } = counted();
  const both = Promise.all([sleep(60_000, signal), raceAbort(new Promise(() => {}), signal)]);
  abort();
  expect(await both).toEqual([undefined, undefined]);
  await sleep(60_000, signal);
  expect(await raceAbort(Promise.reject(new Error("too late")), signal)).toBeUndefined();
});
