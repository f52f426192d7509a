/** Files of `NAME=value` lines, as programs keep their settings in. */
import { usageError } from "../terminal/text/failure.ts";

export interface Setting {
  name: string;
  value: string;
}

const NAME = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*/;
const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t" };

/**
 * Comments begin with `#`; values stand as they are, in 'single' quotes, or in "double" ones, where \n and the like
 * are escapes; quotes may go over several lines. Of a name that is given twice the last value counts.
 * @throws a usage error that names the line, never what stands on it
 */
export function parseSettings(text: string): Setting[] {
  const found = new Map<string, string>();
  let rest = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const lineNow = () => text.replaceAll("\r\n", "\n").split("\n").length - rest.split("\n").length + 1;
  for (;;) {
    rest = rest.replace(/^(?:\s+|#[^\n]*)+/, "");
    if (rest === "") return [...found].map(([name, value]) => ({ name, value }));
    const named = NAME.exec(rest);
    if (!named || /\n/.test(named[0].trimEnd())) throw usageError(`line ${lineNow()} is no NAME=value`);
    const onLine = named[0].replace(/\n[\s\S]*$/, "");
    rest = rest.slice(onLine.length);
    const value = /^"((?:[^"\\]|\\[\s\S])*)"|^'([^']*)'|^([^\n]*)/.exec(rest)!;
    const [whole, double, single, plain] = value;
    if (plain !== undefined && /^["']/.test(plain)) {
      throw usageError(`line ${lineNow()} begins a quote that does not end`);
    }
    rest = rest.slice(whole.length);
    found.set(named[1]!, single ?? (double === undefined ? plainOf(plain!) : unescaped(double)));
    if (plain === undefined && !/^[ \t]*(?:#[^\n]*)?(?:\n|$)/.test(rest)) {
      throw usageError(`line ${lineNow()} has something after the closing quote`);
    }
  }
}

function plainOf(text: string): string {
  return text.replace(/\s#.*$/, "").trim();
}

function unescaped(text: string): string {
  return text.replace(/\\([\s\S])/g, (_, letter: string) => ESCAPES[letter] ?? letter);
}
