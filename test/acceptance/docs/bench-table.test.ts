/** The README's table of figures is written by `test/bench/table.ts`. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { formatTable, replaceTable } from "../../bench/table.ts";

const FIGURE = { ratio: 0.5, target: "<= 20 ms", holds: true };

test("a figure is a row with its reference or its target", () => {
  const table = formatTable([
    { ...FIGURE, what: "calls", measured: "5,000/s", floor: "prototype 10,000/s" },
    { ...FIGURE, what: "svc --version", measured: "9.00 ms", floor: "" },
  ]);
  expect(table.split("\n")).toEqual([
    "| what          | measured | against            |",
    "| ------------- | -------- | ------------------ |",
    "| calls         | 5,000/s  | prototype 10,000/s |",
    "| svc --version | 9.00 ms  | <= 20 ms           |",
    "",
  ]);
});

test("the table is inserted in the README, and nothing else changes", async () => {
  const readme = await Bun.file(join(import.meta.dir, "../../../README.md")).text();
  const once = replaceTable(readme, "| table |\n");
  expect(once).toContain("\n\n| table |\n\n");
  expect(once.split("| table |")[0]).toBe(readme.slice(0, once.indexOf("| table |")));
  expect(replaceTable(once, "| table |\n")).toBe(once);
});
