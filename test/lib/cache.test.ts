import { expect, test } from "bun:test";
import { Cache } from "../../src/lib/async/cache.ts";

test("a cache is bounded: the oldest entries are evicted", () => {
  const cache = new Cache<number>({ max: 2 });
  for (const name of ["a", "b", "a", "c"]) cache.set(name, 1);
  expect([...cache.keys()]).toEqual(["a", "c"]);
});

test("the least recently used entries are evicted", () => {
  const cache = new Cache<string>({ max: 3 });
  for (const name of ["a", "b", "c"]) cache.set(name, name);
  expect(cache.get("a")).toBe("a");
  cache.set("d", "d");
  expect(["a", "b", "c", "d"].map((name) => cache.get(name))).toEqual(["a", undefined, "c", "d"]);
});

test("entries may have weights: as many as necessary are evicted, and one that is too heavy is not cached", () => {
  const cache = new Cache<string>({ max: 10, weigh: (key, value) => key.length + value.length });
  cache.set("a", "123");
  cache.set("b", "12");
  cache.set("b", "123");
  cache.set("c", "1");
  expect([...cache.keys()]).toEqual(["a", "b", "c"]);
  cache.set("d", "1234");
  expect([...cache.keys()]).toEqual(["c", "d"]);
  cache.delete("d");
  cache.deleteWhere((key) => key === "c");
  cache.set("e", "123456789");
  expect([...cache.keys()]).toEqual(["e"]);
  cache.set("f", "1234567890");
  expect([...cache.keys()]).toEqual(["e"]);
  cache.set("e", "1234567890");
  expect([...cache.keys()]).toEqual([]);
  cache.set("g", "12345");
  expect([...cache.keys()]).toEqual(["g"]);
});

test("entries expire, each after its own time", () => {
  let now = 0;
  const cache = new Cache<string>({ max: 9, ttl_ms: 10, now: () => now });
  cache.set("a", "A");
  cache.set("b", "B", 5);
  now = 5;
  expect([cache.get("a"), cache.get("b")]).toEqual(["A", undefined]);
  now = 10;
  expect(cache.get("a")).toBeUndefined();
});

test("concurrent callers share one load", async () => {
  const cache = new Cache<number>({ max: 9 });
  let looks = 0;
  const look = async () => {
    await Promise.resolve();
    return ++looks;
  };
  expect(await Promise.all([cache.load("a", look), cache.load("a", look), cache.load("b", look)])).toEqual([
    1, 1, 2,
  ]);
  expect([cache.get("a"), cache.get("b")]).toEqual([1, 2]);
});

test("errors of a load are not cached, and are thrown to all waiting callers", async () => {
  const cache = new Cache<number>({ max: 9 });
  const fail = async (): Promise<number> => {
    throw new Error("no");
  };
  const outcomes = await Promise.allSettled([cache.load("a", fail), cache.load("a", fail)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await cache.load("a", async () => 1)).toBe(1);
});

test.each<[how: string, forget: (cache: Cache<number>) => void]>([
  ["by its name", (cache) => cache.delete("a")],
  ["by a test", (cache) => cache.deleteWhere(() => true)],
  ["with all others", (cache) => cache.clear()],
])("entries invalidated %s during a load are not cached; later callers load again", async (_, forget) => {
  const cache = new Cache<number>({ max: 9 });
  const before = Promise.withResolvers<number>();
  const stale = cache.load("a", () => before.promise);
  forget(cache);
  const fresh = cache.load("a", async () => 2);
  before.resolve(1);
  expect([await stale, await fresh, cache.get("a")]).toEqual([1, 2, 2]);
});
