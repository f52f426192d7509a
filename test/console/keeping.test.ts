/** Drafts are saved until they are saved. */
import { expect, test } from "bun:test";
import { DraftSaver } from "../../src/console/parts/editor/draft-saver.ts";

test("a failed save is retried automatically, with the newest draft", async () => {
  const saved: string[] = [];
  const told: string[] = [];
  let failures = 2;
  const done = Promise.withResolvers<void>();
  const keep = async (draft: string) => {
    if (failures-- > 0) throw new Error("no connection");
    saved.push(draft);
    done.resolve();
  };
  const keeper = new DraftSaver<string>("deployed", keep, (kept) => told.push(kept), 1);
  keeper.take("first", keep);
  const first = keeper.save();
  keeper.take("second", keep);
  await first;
  await done.promise;
  await keeper.save();
  expect([saved, keeper.isBehind]).toEqual([["second"], false]);
  expect(told).toEqual(["saving", "failed", "saving", "failed", "saving", "kept"]);
});

test("no save follows the action that ends the draft", async () => {
  const saved: string[] = [];
  const keep = async (draft: string) => void saved.push(draft);
  const keeper = new DraftSaver<string>("deployed", keep, () => {});
  keeper.take("mine", keep);
  await keeper.end(async () => {});
  await keeper.save();
  expect(saved).toEqual([]);
});
