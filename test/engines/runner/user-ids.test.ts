/** User ids for scripts: who has which, and for how long. */
import { expect, test } from "bun:test";
import { createUserIds } from "../../../src/engines/runner/sandbox/users/user-ids.ts";

const ids = () => createUserIds({ first: 100, last: 103 });

test("an id is had by one, and comes back last", () => {
  const all = ids();
  expect(all.group).toBe(100);
  expect([all.take(), all.take(), all.take()]).toEqual([101, 102, 103]);
  expect(() => all.take()).toThrow("all user ids of scripts (100-103, SVC_JOB_UIDS) are taken");
  all.give(102);
  expect(all.take()).toBe(102);
  all.give(101);
  all.give(103);
  expect([all.take(), all.take()]).toEqual([103, 101]);
});

test("a name keeps its id until it is forgotten and nobody has it", () => {
  const all = ids();
  const one = all.take("a");
  expect(all.take("a")).toBe(one);
  all.give(one);
  all.give(one);
  expect([all.take(), all.take("a")]).toEqual([102, one]);
  all.forget("a");
  expect(all.take("b")).toBe(103);
  expect(() => all.take()).toThrow("are taken");
  all.give(one);
  expect(all.take()).toBe(one);
});

test("files that are there already say what id their name has, in the range or not", () => {
  const all = ids();
  all.keep("a", 102);
  all.keep("b", 7_000);
  expect([all.take("b"), all.take("a"), all.take(), all.take()]).toEqual([7_000, 102, 101, 103]);
});
