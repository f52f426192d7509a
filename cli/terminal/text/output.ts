/** Output of commands: results on stdout, everything else on stderr. Colours and truncation only on terminals. */
import { stripVTControlCharacters } from "node:util";
import chalk from "chalk";

export interface Column<T> {
  title: string;
  value: (row: T) => string;
  /** Part that is truncated on a narrow terminal: the end (default), the start (paths), or nothing (ids). */
  cut?: "end" | "start" | "never";
  /** Truncated before other columns, and omitted if too narrow to be useful. */
  minor?: boolean;
  /** Colours the text, on terminals only. */
  paint?: (text: string, row: T) => string;
}

/** Prints one JSON value on stdout. */
export function printJson(value: unknown): void {
  writeText(process.stdout, `${JSON.stringify(value, undefined, 2)}\n`);
}

export function print(text: string): void {
  writeText(process.stdout, `${text}\n`);
}

/** Prints a remark on stderr; never part of a result. */
export function printNote(text: string): void {
  writeText(process.stderr, `${text}\n`);
}

/** Writes text: unchanged to a pipe or file, with control characters escaped on a terminal. */
export function writeText(stream: NodeJS.WriteStream, text: string): void {
  stream.write(stream.isTTY ? escapeControls(text) : text);
}

/** Writes bytes in the same way, so that binary data cannot control a terminal. */
export async function writeBytes(
  stream: NodeJS.WriteStream,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  const decoder = new TextDecoder();
  for await (const bytes of pieces) {
    if (stream.isTTY) writeText(stream, decoder.decode(bytes, { stream: true }));
    else if (!stream.write(bytes)) await new Promise((resolve) => stream.once("drain", resolve));
  }
}

/**
 * Colours (SGR of ECMA-48), line ends and tabs in the first group; other control characters and text-direction marks.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL_CHARACTERS = /(\u001b\[[\d;:]*m|\r?\n|\t)|[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * Escapes control characters as JSON does. Text from jobs and other users must not move the cursor, rename the window
 * or set the clipboard.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROL_CHARACTERS, (control: string, harmless: string | undefined) => {
    if (harmless !== undefined) return harmless;
    // A carriage return of a progress bar becomes a new line.
    if (control === "\r") return "\n";
    return `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/**
 * Prints rows in columns that fit the terminal, or tab-separated in a pipe.
 * @param none text printed on a terminal if there are no rows
 */
export async function printTable<T>(
  rows: readonly T[],
  columns: Column<T>[],
  none = "nothing to list",
): Promise<void> {
  if (rows.length === 0) {
    if (process.stdout.isTTY) printNote(none);
    return;
  }
  const texts = rows.map((row) => columns.map((column) => toOneLine(column.value(row))));
  if (!process.stdout.isTTY) {
    for (const text of texts) print(text.join("\t"));
    return;
  }
  const { default: Table } = await import("cli-table3");
  const all = fitWidths(columns, texts, getTerminalWidth());
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
    style: { "padding-left": 0, "padding-right": COLUMN_GAP, head: [], border: [] },
  });
  const cell = (row: T, text: string, { cut, paint, width }: (typeof shown)[number]) => {
    const fitting = cut === "start" ? truncateStart(text, width - COLUMN_GAP) : text;
    return paint ? paint(fitting, row) : fitting;
  };
  table.push(...rows.map((row, at) => shown.map((column) => cell(row, texts[at]![column.index]!, column))));
  print(table.toString());
}

/** Spaces between two columns. */
const COLUMN_GAP = 2;
/** A minor column narrower than this is omitted. */
const MIN_MINOR_WIDTH = 24;

/** Converts a text to one line without control characters. */
export function toOneLine(text: string): string {
  return stripVTControlCharacters(text).replace(/\p{Cc}+/gu, " ");
}

/** Wraps a text into lines of at most `width` characters; a longer word gets a line of its own. */
export function wrapText(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines.at(-1)!.length + word.length + 1 > width && lines.at(-1) !== "") lines.push("");
    lines[lines.length - 1] += lines.at(-1) === "" ? word : ` ${word}`;
  }
  return lines;
}

/** Returns the columns of the terminal. */
export function getTerminalWidth(): number {
  return Math.max(40, process.stdout.columns ?? 80);
}

function truncateStart(text: string, limit: number): string {
  return text.length > limit ? `…${text.slice(text.length - limit + 1)}` : text;
}

/**
 * Computes the columns' widths including gaps; 0 omits a column. Minor columns are narrowed first, then the widest that
 * may be truncated.
 */
function fitWidths<T>(columns: Column<T>[], texts: string[][], total: number): number[] {
  const widths = columns.map(
    ({ title }, index) => Math.max(title.length, ...texts.map((text) => text[index]!.length)) + COLUMN_GAP,
  );
  let over = widths.reduce((a, b) => a + b, 0) - total;
  columns.forEach(({ minor }, index) => {
    if (!minor || over <= 0) return;
    const whole = widths[index]!;
    const left = whole - over;
    widths[index] = left - COLUMN_GAP >= MIN_MINOR_WIDTH ? left : 0;
    over -= whole - widths[index];
  });
  const width = (index: number) => (columns[index]!.cut === "never" ? 0 : widths[index]!);
  for (; over > 0; over--) {
    const widest = columns.map((_, index) => index).reduce((a, b) => (width(b) > width(a) ? b : a));
    widths[widest] = widths[widest]! - 1;
  }
  return widths;
}

/** Quotes a word for a shell. */
export function quoteForShell(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
