/** What commands print: results on stdout, everything else on stderr; colour and width only where there is a terminal. */
import { stripVTControlCharacters } from "node:util";
import chalk from "chalk";

export interface Column<T> {
  title: string;
  value: (row: T) => string;
  /** What gives way where the terminal is narrow: the end (default), the start (paths), or nothing (ids). */
  cut?: "end" | "start" | "never";
  /** Gives way before the others do, and is left out where too little of it would be seen. */
  minor?: boolean;
  /** Colour, on a terminal. */
  paint?: (text: string, row: T) => string;
}

/** One JSON value on stdout. */
export function printJson(value: unknown): void {
  write(process.stdout, `${JSON.stringify(value, undefined, 2)}\n`);
}

export function print(text: string): void {
  write(process.stdout, `${text}\n`);
}

/** A remark for a person; never part of a result. */
export function note(text: string): void {
  write(process.stderr, `${text}\n`);
}

/** Writes text as it is into a pipe or a file; on a terminal, as it may be shown there. */
export function write(stream: NodeJS.WriteStream, text: string): void {
  stream.write(stream.isTTY ? showable(text) : text);
}

/** Writes bytes in the same way: those of what is no text are no commands of a terminal either. */
export async function writeBytes(
  stream: NodeJS.WriteStream,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  const decoder = new TextDecoder();
  for await (const bytes of pieces) {
    if (stream.isTTY) write(stream, decoder.decode(bytes, { stream: true }));
    else if (!stream.write(bytes)) await new Promise((resolve) => stream.once("drain", resolve));
  }
}

/** A colour (SGR of ECMA-48), a line's end, a tab; or what else a terminal would obey, or show text in another order by. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /(\u001b\[[\d;:]*m|\r?\n|\t)|[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * The text without what would move the cursor, rename the window, or fill the clipboard of who reads it: jobs and
 * people elsewhere chose it. Control characters become visible, in the way of JSON.
 */
export function showable(text: string): string {
  return text.replace(CONTROL, (control: string, harmless: string | undefined) => {
    if (harmless !== undefined) return harmless;
    // A progress bar in a log begins its line anew.
    if (control === "\r") return "\n";
    return `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Rows in columns that fit the terminal; plain tab-separated text in a pipe. */
export async function printTable<T>(rows: readonly T[], columns: Column<T>[]): Promise<void> {
  const texts = rows.map((row) => columns.map((column) => oneLine(column.value(row))));
  if (!process.stdout.isTTY) {
    for (const text of texts) print(text.join("\t"));
    return;
  }
  const { default: Table } = await import("cli-table3");
  const all = fit(columns, texts, terminalWidth());
  const shown = columns
    .map((column, index) => ({ ...column, index, width: all[index]! }))
    .filter(({ width }) => width > 0);
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
    head: shown.map(({ title }) => chalk.bold(title)),
    colWidths: shown.map(({ width }) => width),
    chars: Object.fromEntries([...borders, ...lines].map((part) => [part, ""])),
    style: { "padding-left": 0, "padding-right": GAP, head: [], border: [] },
  });
  const cell = (row: T, text: string, { cut, paint, width }: (typeof shown)[number]) => {
    const fitting = cut === "start" ? cutStart(text, width - GAP) : text;
    return paint ? paint(fitting, row) : fitting;
  };
  table.push(...rows.map((row, at) => shown.map((column) => cell(row, texts[at]![column.index]!, column))));
  print(table.toString());
}

/** Between two columns. */
const GAP = 2;
/** Fewer characters than these tell nothing of a column that gives way first. */
const TELLING = 24;

/** Text of one line, without what would move a terminal's cursor. */
export function oneLine(text: string): string {
  return stripVTControlCharacters(text).replace(/\p{Cc}+/gu, " ");
}

/** A text in lines of at most `width` characters; a longer word stands alone. */
export function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines.at(-1)!.length + word.length + 1 > width && lines.at(-1) !== "") lines.push("");
    lines[lines.length - 1] += lines.at(-1) === "" ? word : ` ${word}`;
  }
  return lines;
}

/** Columns of the terminal. */
export function terminalWidth(): number {
  return Math.max(40, process.stdout.columns ?? 80);
}

function cutStart(text: string, most: number): string {
  return text.length > most ? `…${text.slice(text.length - most + 1)}` : text;
}

/**
 * The columns' widths, gap included; 0 for one that is left out. What is too much is taken from minor ones first, then
 * from the widest that may be cut.
 */
function fit<T>(columns: Column<T>[], texts: string[][], total: number): number[] {
  const widths = columns.map(
    ({ title }, index) => Math.max(title.length, ...texts.map((text) => text[index]!.length)) + GAP,
  );
  let over = widths.reduce((a, b) => a + b, 0) - total;
  columns.forEach(({ minor }, index) => {
    if (!minor || over <= 0) return;
    const whole = widths[index]!;
    const left = whole - over;
    widths[index] = left - GAP >= TELLING ? left : 0;
    over -= whole - widths[index];
  });
  const width = (index: number) => (columns[index]!.cut === "never" ? 0 : widths[index]!);
  for (; over > 0; over--) {
    const widest = columns.map((_, index) => index).reduce((a, b) => (width(b) > width(a) ? b : a));
    widths[widest] = widths[widest]! - 1;
  }
  return widths;
}
