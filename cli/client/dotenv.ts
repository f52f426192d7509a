/** Files with `NAME=value` lines (dotenv). */
import { createUsageError } from "../terminal/text/failure.ts";

export interface DotenvEntry {
  name: string;
  value: string;
}

const NAME = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*/;
const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t" };

/**
 * Parses a file. `#` begins a comment. Values are bare, in 'single' quotes, or in "double" quotes with escapes such as
 * \n; quoted values may span lines. The last value of a name counts.
 * @throws a usage error that names the line but not its content, which may be secret
 */
export function parseDotenv(text: string): DotenvEntry[] {
  const found = new Map<string, string>();
  let rest = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const lineNow = () => text.replaceAll("\r\n", "\n").split("\n").length - rest.split("\n").length + 1;
  for (;;) {
    rest = rest.replace(/^(?:\s+|#[^\n]*)+/, "");
    if (rest === "") return [...found].map(([name, value]) => ({ name, value }));
    const named = NAME.exec(rest);
    if (!named || /\n/.test(named[0].trimEnd()))
      throw createUsageError(`line ${lineNow()} is not a NAME=value`);
    const onLine = named[0].replace(/\n[\s\S]*$/, "");
    rest = rest.slice(onLine.length);
    const value = /^"((?:[^"\\]|\\[\s\S])*)"|^'([^']*)'|^([^\n]*)/.exec(rest)!;
    const [whole, double, single, plain] = value;
    if (plain !== undefined && /^["']/.test(plain)) {
      throw createUsageError(`line ${lineNow()} begins a quote that does not end`);
    }
    rest = rest.slice(whole.length);
    found.set(named[1]!, single ?? (double === undefined ? stripComment(plain!) : unescapeText(double)));
    if (plain === undefined && !/^[ \t]*(?:#[^\n]*)?(?:\n|$)/.test(rest)) {
      throw createUsageError(`line ${lineNow()} has something after the closing quote`);
    }
  }
}

function stripComment(text: string): string {
  return text.replace(/\s#.*$/, "").trim();
}

function unescapeText(text: string): string {
  return text.replace(/\\([\s\S])/g, (_, letter: string) => ESCAPES[letter] ?? letter);
}
