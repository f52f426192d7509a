/** Parses the parts of source code that signatures need: comments, brackets, lists and literals. */

export interface LexicalRules {
  /** Tokens that start a comment to the end of the line. */
  line_comments: string[];
  /** Delimiters of other comments. */
  block_comments: [open: string, close: string][];
  /** Quote characters of string literals. */
  quotes: string;
  /** Character that escapes the next one in a string literal. */
  escape: string;
}

const OPENING = "([{<";
const CLOSING = ")]}>";

/** Replaces comments by spaces; lines keep their numbers. */
export function blankComments(content: string, rules: LexicalRules): string {
  let out = "";
  for (let at = 0; at < content.length; ) {
    const end = endOfComment(content, at, rules);
    if (end > at) {
      out += content.slice(at, end).replace(/[^\n]/g, " ");
      at = end;
      continue;
    }
    const next = rules.quotes.includes(content[at]!) ? endOfText(content, at, rules) : at + 1;
    out += content.slice(at, next);
    at = next;
  }
  return out;
}

function endOfComment(content: string, at: number, rules: LexicalRules): number {
  for (const [open, close] of rules.block_comments) {
    if (!content.startsWith(open, at)) continue;
    const end = content.indexOf(close, at + open.length);
    return end < 0 ? content.length : end + close.length;
  }
  if (!rules.line_comments.some((mark) => content.startsWith(mark, at))) return at;
  const end = content.indexOf("\n", at);
  return end < 0 ? content.length : end;
}

function endOfText(content: string, at: number, rules: LexicalRules): number {
  for (let end = at + 1; end < content.length; end++) {
    if (content[end] === rules.escape) end++;
    else if (content[end] === content[at]) return end + 1;
  }
  return content.length;
}

/**
 * Returns the text between the bracket at `open` and its closing bracket; undefined if there is none. Angle brackets
 * are not counted.
 */
export function readBracket(content: string, open: number, rules: LexicalRules): string | undefined {
  let depth = 0;
  for (let at = open; at < content.length; at++) {
    const letter = content[at]!;
    if (rules.quotes.includes(letter)) at = endOfText(content, at, rules) - 1;
    else if ("([{".includes(letter)) depth++;
    else if (")]}".includes(letter) && --depth === 0) return content.slice(open + 1, at);
  }
  return undefined;
}

/** Splits a list at separators outside of brackets and string literals; empty items are dropped. */
export function splitList(list: string, rules: LexicalRules, separators = ","): string[] {
  const items: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < list.length; at++) {
    const letter = list[at]!;
    if (rules.quotes.includes(letter)) at = endOfText(list, at, rules) - 1;
    else if (OPENING.includes(letter)) depth++;
    else if (CLOSING.includes(letter) && !"-=".includes(list[at - 1] ?? " ")) depth--;
    else if (depth === 0 && separators.includes(letter)) {
      items.push(list.slice(start, at));
      start = at + 1;
    }
  }
  items.push(list.slice(start));
  return items.map((item) => item.trim()).filter((item) => item !== "");
}

/** Returns the value of a literal default, such as `1`, `'x'`, `nil`; undefined for any other expression. */
export function readLiteral(text: string | undefined): unknown {
  const literal = text?.trim();
  if (!literal) return undefined;
  const lower = literal.toLowerCase();
  if (/^\$?(true|false)$/.test(lower)) return lower.endsWith("true");
  if (/^(null|nil|\$null)$/.test(lower)) return null;
  if (/^-?\d+(\.\d+)?$/.test(literal)) return Number(literal);
  const quoted = /^(["'])((?:(?!\1)[^\\$#`])*)\1$/.exec(literal);
  return quoted ? quoted[2] : undefined;
}
