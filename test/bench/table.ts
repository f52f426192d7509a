/**
 * Writes the README's table of figures from dist/bench.json, which `bun run bench` leaves:
 *
 *   bun test/bench/table.ts
 */
import { join } from "node:path";
import type { Figure, Report } from "./tools/figures.ts";

const BEGIN = "<!-- figures of dist/bench.json, by test/bench/table.ts -->\n\n";
const END = "\n<!-- end of figures -->";

/** Formats the rows; columns are padded, as the README's other tables are. */
export function formatTable(figures: Figure[]): string {
  const rows = [
    ["what", "measured", "against"],
    ...figures.map(({ what, measured, floor, target }) => [what, measured, floor === "" ? target : floor]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return `${[lines[0], rule, ...lines.slice(1)].join("\n")}\n`;
}

/** Replaces the table between the marks. @throws Error if the text has none */
export function replaceTable(text: string, table: string): string {
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END, from);
  if (from < 0 || to < 0)
    throw new Error(`the text has no marks of the table: ${BEGIN.trim()} … ${END.trim()}`);
  return text.slice(0, from + BEGIN.length) + table + text.slice(to);
}

if (import.meta.main) {
  const root = join(import.meta.dir, "../..");
  const { figures } = (await Bun.file(join(root, "dist/bench.json")).json()) as Report;
  const readme = Bun.file(join(root, "README.md"));
  await Bun.write(readme, replaceTable(await readme.text(), formatTable(figures)));
}
