/** Sharing slots between owners, with a test clock. */
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { createFairSlots } from "../../src/lib/async/fair-slots.ts";

const SLOW_MS = 10_000;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function createCase() {
  const slots = createFairSlots({ limit: 2, slow_after_ms: SLOW_MS, max: 6 });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };
  async function start(name: string, signal?: AbortSignal): Promise<void> {
    slots.acquire(name[0]!, signal).then((release) => {
      if (!release) return;
      started.push(name);
      ends.set(name, release);
    });
    await settle();
  }
  async function end(name: string): Promise<void> {
    ends.get(name)!();
    await settle();
  }
  async function pass(ms: number): Promise<void> {
    jest.advanceTimersByTime(ms);
    await settle();
  }
  return { started, start, end, pass };
}

test("a free slot goes to the owner that holds the fewest", async () => {
  const { started, start, end } = createCase();
  for (const name of ["a1", "a2", "a3", "a4", "b1"]) await start(name);
  expect(started).toEqual(["a1", "a2"]);
  await end("a1");
  await end("a2");
  expect(started).toEqual(["a1", "a2", "b1", "a3"]);
});

test("owners that hold equally many take turns", async () => {
  const { started, start, end } = createCase();
  for (const name of ["a1", "a2", "a3", "a4", "b1", "b2", "b3", "c1"]) await start(name);
  for (const name of ["a1", "a2", "b1", "c1", "a3"]) await end(name);
  expect(started).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("slow work no longer keeps others waiting, and its end frees nothing twice", async () => {
  const { started, start, end, pass } = createCase();
  for (const name of ["a1", "a2", "a3", "a4", "a5"]) await start(name);
  await pass(SLOW_MS);
  expect(started).toEqual(["a1", "a2", "a3", "a4"]);
  await end("a1");
  expect(started).toHaveLength(4);
  await end("a3");
  expect(started).toEqual(["a1", "a2", "a3", "a4", "a5"]);
});

test("slow work of one owner leaves room for the others", async () => {
  const { started, start, pass } = createCase();
  for (const name of ["a1", "a2", "a3", "a4", "a5", "a6"]) await start(name);
  await pass(SLOW_MS);
  await pass(SLOW_MS);
  expect(started).toEqual(["a1", "a2", "a3", "a4"]);
  for (const name of ["b1", "b2", "b3"]) await start(name);
  expect(started.slice(4)).toEqual(["b1", "b2"]);
});

test("an aborted wait takes no slot", async () => {
  const { started, start, end } = createCase();
  const controller = new AbortController();
  for (const name of ["a1", "a2"]) await start(name);
  await start("a3", controller.signal);
  controller.abort();
  await end("a1");
  await start("a4");
  expect(started).toEqual(["a1", "a2", "a4"]);
});
