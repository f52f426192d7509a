/** User ids for scripts: which process has which, and for how long. */
import { expect, test } from "bun:test";
import { createUserIds } from "../../../../src/engines/runner/sandbox/users/user-ids.ts";

const ids = () => createUserIds({ first: 100, last: 103 });

test("an id has one holder, and is reused last", () => {
  const all = ids();
  expect(all.group).toBe(100);
  expect([all.acquire(), all.acquire(), all.acquire()]).toEqual([101, 102, 103]);
  expect(() => all.acquire()).toThrow("all user ids of scripts (100-103, SVC_JOB_UIDS) are taken");
  all.release(102);
  expect(all.acquire()).toBe(102);
  all.release(101);
  all.release(103);
  expect([all.acquire(), all.acquire()]).toEqual([103, 101]);
});

test("a name keeps its id until it is released and has no holders", () => {
  const all = ids();
  const one = all.acquire("a");
  expect(all.acquire("a")).toBe(one);
  all.release(one);
  all.release(one);
  expect([all.acquire(), all.acquire("a")]).toEqual([102, one]);
  all.releaseName("a");
  expect(all.acquire("b")).toBe(103);
  expect(() => all.acquire()).toThrow("are taken");
  all.release(one);
  expect(all.acquire()).toBe(one);
});

test("existing files determine the id of their name, inside or outside of the range", () => {
  const all = ids();
  all.reserve("a", 102);
  all.reserve("b", 7_000);
  expect([all.acquire("b"), all.acquire("a"), all.acquire(), all.acquire()]).toEqual([7_000, 102, 101, 103]);
});
