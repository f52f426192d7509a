import { expect, test } from "bun:test";
import { createDataSearch } from "../../../../src/features/runs/arguments/data-search.ts";

test("finds a text that is in the data, whole or inside of another", () => {
  const isData = createDataSearch(["$res:f/db/main", "see $var:f/shop/key there"]);
  expect(["$res:f/db/main", "$var:f/shop/key", "$var:f/shop/other"].map(isData)).toEqual([true, true, false]);
});

test("counts everything as data once too much was searched", () => {
  const isData = createDataSearch(["$".repeat(10_000_000)]);
  const answers = Array.from({ length: 7 }, (_, at) => isData(`$var:f/a/${at}`));
  expect(answers).toEqual([false, false, false, false, true, true, true]);
});
