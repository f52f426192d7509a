/** Converts ANSI escape sequences (ECMA-48 SGR) to CSS classes. */

export interface StyledText {
  text: string;
  classes: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what such sequences begin with
const SEQUENCE = /\u001b\[([\d;]*)([A-Za-z])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b./g;

const STYLES: Record<number, string> = { 1: "bold", 2: "dim", 3: "italic", 4: "underline" };

/**
 * Returns the basic colour nearest to a 256-colour or RGB value; undefined for grey, which is shown in the text colour.
 */
function toBasicColor(red: number, green: number, blue: number): number | undefined {
  const most = Math.max(red, green, blue);
  if (most - Math.min(red, green, blue) < 40) return undefined;
  const isOn = (value: number) => Number(value > most * 0.6);
  return isOn(red) + 2 * isOn(green) + 4 * isOn(blue);
}

function colorOf(index: number): number | undefined {
  if (index < 16) return index % 8;
  // A cube of 6 × 6 × 6 colours, then greys.
  const at = index - 16;
  const level = (part: number) => (part % 6) * 51;
  return at < 216
    ? toBasicColor(level(Math.floor(at / 36)), level(Math.floor(at / 6)), level(at))
    : undefined;
}

function color(on: Set<string>, code: number | undefined): void {
  for (const each of [...on]) if (/^\d$/.test(each)) on.delete(each);
  if (code !== undefined) on.add(String(code));
}

function apply(text: string, on: Set<string>): void {
  const codes = text === "" ? [0] : text.split(";").map(Number);
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!;
    if (code === 0) on.clear();
    else if (STYLES[code]) on.add(STYLES[code]);
    else if (code === 22) {
      on.delete("bold");
      on.delete("dim");
    } else if (code === 23 || code === 24) on.delete(STYLES[code - 20]!);
    else if (code === 39) color(on, undefined);
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) color(on, code % 10);
    else if (code === 38 || code === 48) {
      // `5` and an index, or `2` and RGB. Backgrounds are not shown.
      const [kind, ...values] = codes.slice(at + 1, at + 5) as [number, number, number, number];
      if (code === 38)
        color(on, kind === 5 ? colorOf(values[0]) : kind === 2 ? toBasicColor(...values) : undefined);
      at += kind === 5 ? 2 : kind === 2 ? 4 : codes.length;
    }
  }
}

/** Splits a line into pieces of equal style. */
export function splitByStyle(line: string): StyledText[] {
  if (!line.includes("\u001b")) return [{ text: line, classes: "" }];
  const pieces: StyledText[] = [];
  const on = new Set<string>();
  let at = 0;
  const push = (until: number) => {
    if (until > at)
      pieces.push({ text: line.slice(at, until), classes: [...on].map((each) => `ansi-${each}`).join(" ") });
  };
  for (const match of line.matchAll(SEQUENCE)) {
    push(match.index);
    at = match.index + match[0].length;
    if (match[2] === "m") apply(match[1]!, on);
  }
  push(line.length);
  return pieces;
}

export const stripStyles = (line: string): string =>
  line.includes("\u001b") ? line.replace(SEQUENCE, "") : line;
