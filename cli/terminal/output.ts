/** What commands print: results on stdout, everything else on stderr; colour and width only where there is a terminal. */
import chalk from "chalk";

export interface Column<T> {
  title: string;
  value: (row: T) => string;
}

/** One JSON value on stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A remark for a person; never part of a result. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Rows in columns that fit the terminal; plain tab-separated text in a pipe. */
export async function printTable<T>(rows: readonly T[], columns: Column<T>[]): Promise<void> {
  if (!process.stdout.isTTY) {
    for (const row of rows) print(columns.map((column) => column.value(row)).join("\t"));
    return;
  }
  const { default: Table } = await import("cli-table3");
  const width = Math.max(40, process.stdout.columns ?? 80);
  const texts = rows.map((row) => columns.map((column) => column.value(row)));
  const widths = fit(
    columns.map(
      (column, index) => Math.max(column.title.length, ...texts.map((text) => text[index]!.length)) + 2,
    ),
    width,
  );
  const borders = [
    "top",
    "top-mid",
    "top-left",
    "top-right",
    "bottom",
    "bottom-mid",
    "bottom-left",
    "bottom-right",
  ];
  const lines = ["left", "left-mid", "mid", "mid-mid", "right", "right-mid", "middle"];
  const table = new Table({
    head: columns.map((column) => chalk.bold(column.title)),
    colWidths: widths,
    chars: Object.fromEntries([...borders, ...lines].map((part) => [part, ""])),
    style: { "padding-left": 0, "padding-right": 2, head: [], border: [] },
  });
  table.push(...texts);
  print(table.toString());
}

/** Takes what is too wide from the widest column. */
function fit(widths: number[], total: number): number[] {
  const result = [...widths];
  for (let over = result.reduce((a, b) => a + b, 0) - total; over > 0; over--) {
    const widest = result.indexOf(Math.max(...result));
    result[widest] = result[widest]! - 1;
  }
  return result;
}
