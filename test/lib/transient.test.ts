/** Collections of objects that stay for a moment. */
import { expect, test } from "bun:test";
import { TransientMap, TransientSet } from "../../src/lib/collections/transient.ts";

test("a map returns what was set last, in the order of first setting, and forgets what was deleted", () => {
  const map = new TransientMap<number>();
  for (const [index, key] of ["a", "__proto__", "c", "constructor"].entries()) map.set(key, index);
  map.set("a", 7);
  expect([map.size, map.get("a"), map.get("__proto__"), map.has("constructor")]).toEqual([4, 7, 1, true]);
  expect(map.keys()).toEqual(["a", "__proto__", "c", "constructor"]);
  expect([map.delete("c"), map.delete("c"), map.delete("toString")]).toEqual([true, false, false]);
  expect([map.size, map.get("c"), map.has("toString")]).toEqual([3, undefined, false]);
  map.delete("a");
  map.set("a", 8);
  expect([map.keys(), map.values()]).toEqual([
    ["__proto__", "constructor", "a"],
    [1, 3, 8],
  ]);
});

test("a set holds each object once, whatever is deleted in between", () => {
  const set = new TransientSet<{ name: string; index: number }>();
  const elements = [..."abcdef"].map((name) => ({ name, index: -1 }));
  for (const element of [...elements, ...elements]) set.add(element);
  const names = () =>
    set
      .values()
      .map(({ name }) => name)
      .sort()
      .join("");
  expect([set.size, names()]).toEqual([6, "abcdef"]);
  for (const index of [1, 5, 1]) set.delete(elements[index]!);
  expect([set.size, names()]).toEqual([4, "acde"]);
  set.add(elements[5]!);
  expect([set.size, names()]).toEqual([5, "acdef"]);
  for (const element of set.values()) if (element.name < "e") set.delete(element);
  expect([set.size, names()]).toEqual([2, "ef"]);
});
