import { expect, test } from "bun:test";
import { waitAtMost } from "../../src/lib/async/sleep.ts";

const LONG_MS = 60_000;

test("waitAtMost waits until the work has settled, however it ends", async () => {
  const work = Promise.withResolvers<number>();
  const waited = waitAtMost(LONG_MS, work.promise);
  work.resolve(1);
  expect(await waited).toBeUndefined();
  expect(await waitAtMost(LONG_MS, Promise.reject(new Error("no")))).toBeUndefined();
});

test("waitAtMost waits no longer than the given time", async () => {
  expect(await waitAtMost(1, new Promise(() => {}))).toBeUndefined();
});
