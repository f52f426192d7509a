/** Converts ANSI escape sequences (ECMA-48 SGR) to CSS classes. */

export interface Piece {
  text: string;
  classes: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what such sequences begin with
const SEQUENCE = /\u001b\[([\d;]*)([A-Za-z])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b./g;

const STYLES: Record<number, string> = { 1: "bold", 2: "dim", 3: "italic", 4: "underline" };

function apply(codes: string, on: Set<string>): void {
  for (const code of codes === "" ? [0] : codes.split(";").map(Number)) {
    if (code === 0) on.clear();
    else if (STYLES[code]) on.add(STYLES[code]);
    else if (code === 22) {
      on.delete("bold");
      on.delete("dim");
    } else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97) || code === 39) {
      for (const each of [...on]) if (/^\d$/.test(each)) on.delete(each);
      if (code !== 39) on.add(String(code % 10));
    }
    // 256-colour and RGB codes are ignored together with their parameters.
    else if (code === 38 || code === 48) return;
  }
}

/** Splits a line into pieces of equal style. */
export function splitByStyle(line: string): Piece[] {
  if (!line.includes("\u001b")) return [{ text: line, classes: "" }];
  const pieces: Piece[] = [];
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

export const plain = (line: string): string => (line.includes("\u001b") ? line.replace(SEQUENCE, "") : line);
