/** Saving a draft is repeated until it succeeds. */
import { expect, test } from "bun:test";
import { DraftSaver, SavedElsewhere } from "../../src/console/parts/editor/draft-saver.ts";

test("a failed save is retried automatically, with the newest draft", async () => {
  const saved: string[] = [];
  const told: string[] = [];
  let failures = 2;
  const done = Promise.withResolvers<void>();
  const store = {
    save: async (draft: string) => {
      if (failures-- > 0) throw new Error("no connection");
      saved.push(draft);
      done.resolve();
    },
  };
  const keeper = new DraftSaver<string>("deployed", store, (kept) => told.push(kept), 1);
  keeper.take("first", store);
  const first = keeper.save();
  keeper.take("second", store);
  await first;
  await done.promise;
  await keeper.save();
  expect([saved, keeper.isBehind]).toEqual([["second"], false]);
  expect(told).toEqual(["saving", "failed", "saving", "failed", "saving", "kept"]);
});

test("no save follows the action that ends the draft", async () => {
  const saved: string[] = [];
  const store = { save: async (draft: string) => void saved.push(draft) };
  const keeper = new DraftSaver<string>("deployed", store, () => {});
  keeper.take("mine", store);
  await keeper.end(async () => {});
  await keeper.save();
  expect(saved).toEqual([]);
});

test("a draft that was saved elsewhere is neither replaced nor ended, until its author chooses", async () => {
  const saved: string[] = [];
  const told: string[] = [];
  let isElsewhere = false;
  const check = async () => {
    if (isElsewhere) throw new SavedElsewhere();
  };
  const store = {
    check,
    save: async (draft: string) => {
      await check();
      saved.push(draft);
    },
    takeOver: async () => {
      isElsewhere = false;
    },
  };
  const keeper = new DraftSaver<string>("deployed", store, (kept) => told.push(kept), 1);
  keeper.take("first", store);
  await keeper.save();
  isElsewhere = true;
  await keeper.check();
  keeper.take("second", store);
  await keeper.save();
  expect([saved, told]).toEqual([["first"], ["saving", "kept", "elsewhere"]]);
  let isEnded = false;
  const end = keeper.end(async () => {
    isEnded = true;
  });
  await expect(end).rejects.toThrow(SavedElsewhere);
  expect([isEnded, keeper.isBehind]).toEqual([false, true]);
  await keeper.keepMine();
  expect([saved, keeper.isBehind]).toEqual([["first", "second"], false]);
  isElsewhere = true;
  keeper.take("third", store);
  await keeper.save();
  expect([saved.length, told.at(-1)]).toEqual([2, "elsewhere"]);
});
