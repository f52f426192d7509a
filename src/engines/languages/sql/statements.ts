/**
 * Splits SQL text into statements, and these into text and placeholders. Quotes, comments and the bodies of functions
 * or triggers stay intact. Self-contained, because children use it too.
 */

export type SqlDialect = "postgresql" | "mysql" | "sqlite";

export interface SqlStatement {
  /** Source line of its first text, from 1. */
  line: number;
  /** Text and placeholders (`$1`, `?`, `:name`), in order. */
  parts: (string | { placeholder: string })[];
}

/** An unterminated quote or comment. */
export class StatementFault extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

interface Token {
  kind: "space" | "comment" | "quoted" | "placeholder" | "word" | "end" | "other";
  text: string;
}

const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;
const DOLLAR_QUOTE = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
const PLACEHOLDER: Record<SqlDialect, RegExp> = {
  postgresql: /\$\d+/y,
  mysql: /\?|:[A-Za-z_]\w*/y,
  sqlite: /\?\d*|[$:@]\w+/y,
};
const LINE_COMMENT: Record<SqlDialect, RegExp> = {
  postgresql: /--[^\n]*/y,
  // Without a space, `--` is two minus signs.
  mysql: /(?:--(?=\s|$)|#)[^\n]*/y,
  sqlite: /--[^\n]*/y,
};
const QUOTES: Record<SqlDialect, string> = { postgresql: `'"`, mysql: `'"\``, sqlite: `'"\`[` };

/** Splits SQL text into statements. @throws StatementFault */
export function splitStatements(source: string, dialect: SqlDialect): SqlStatement[] {
  const statements: SqlStatement[] = [];
  let line = 1;
  let current: SqlStatement | undefined;
  const body = new BodyDepth();
  for (const { kind, text } of tokenize(source, dialect)) {
    if (kind === "end" && !body.inside) {
      if (current) statements.push(trimStatementEnd(current));
      current = undefined;
      body.reset();
    } else if (current || (kind !== "space" && kind !== "comment" && kind !== "end")) {
      current ??= { line, parts: [] };
      if (kind === "word") body.see(text);
      if (kind === "placeholder") current.parts.push({ placeholder: text });
      else append(current, text);
    }
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) line++;
  }
  if (current) statements.push(trimStatementEnd(current));
  return statements;
}

/** Removes trailing space. */
function trimStatementEnd(statement: SqlStatement): SqlStatement {
  const last = statement.parts.length - 1;
  const part = statement.parts[last];
  if (typeof part === "string") statement.parts[last] = part.trimEnd();
  return statement;
}

function append(statement: SqlStatement, text: string): void {
  const last = statement.parts.length - 1;
  if (typeof statement.parts[last] === "string") statement.parts[last] += text;
  else statement.parts.push(text);
}

/**
 * Tracks nesting in bodies of functions, procedures, triggers and events, where semicolons do not end the statement.
 */
class BodyDepth {
  #words = 0;
  #creates = false;
  #hasBody = false;
  #depth = 0;
  #ended = false;

  get inside(): boolean {
    return this.#depth > 0;
  }

  reset(): void {
    this.#words = 0;
    this.#creates = false;
    this.#hasBody = false;
    this.#depth = 0;
    this.#ended = false;
  }

  see(text: string): void {
    const word = text.toUpperCase();
    if (this.#words++ === 0) this.#creates = word === "CREATE";
    if (!this.#creates) return;
    const closes = this.#ended && /^(IF|LOOP|WHILE|REPEAT|FOR)$/.test(word);
    this.#ended = false;
    if (/^(FUNCTION|PROCEDURE|TRIGGER|EVENT)$/.test(word)) this.#hasBody = true;
    if (!this.#hasBody) return;
    if (word === "BEGIN" || word === "CASE") {
      this.#depth++;
    } else if (word === "END") {
      this.#depth--;
      this.#ended = true;
    } else if (closes) {
      // `END IF` closes a block that was not counted.
      this.#depth++;
    }
  }
}

function* tokenize(source: string, dialect: SqlDialect): Generator<Token> {
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  let before = "";
  while (at < source.length) {
    const token = next();
    at += token.text.length;
    before = token.text;
    yield token;
  }

  function next(): Token {
    const char = source[at]!;
    if (/\s/.test(char)) return { kind: "space", text: match(/\s+/y)! };
    if (char === ";") return { kind: "end", text: char };
    const comment = match(LINE_COMMENT[dialect]);
    if (comment !== undefined) return { kind: "comment", text: comment };
    if (source.startsWith("/*", at)) return { kind: "comment", text: readBlockComment(source, at, dialect) };
    if (QUOTES[dialect].includes(char))
      return { kind: "quoted", text: readQuoted(source, at, dialect, before) };
    if (dialect === "postgresql" && char === "$") {
      const tag = match(DOLLAR_QUOTE);
      if (tag !== undefined) return { kind: "quoted", text: readUpTo(source, at, tag, tag.length) };
    }
    // `::` is a cast, not a placeholder.
    if (source.startsWith("::", at)) return { kind: "other", text: "::" };
    const placeholder = match(PLACEHOLDER[dialect]);
    if (placeholder !== undefined) return { kind: "placeholder", text: placeholder };
    const word = match(WORD);
    if (word !== undefined) return { kind: "word", text: word };
    return { kind: "other", text: match(/\d[\w.]*/y) ?? char };
  }
}

function lineAt(source: string, at: number): number {
  return source.slice(0, at).split("\n").length;
}

/** Returns the text from `at` up to and including the next `end`. */
function readUpTo(source: string, at: number, end: string, skip: number): string {
  const found = source.indexOf(end, at + skip);
  if (found < 0) throw new StatementFault(lineAt(source, at), `the quote that ${end} begins does not end`);
  return source.slice(at, found + end.length);
}

/** Reads a block comment; PostgreSQL's are nestable. */
function readBlockComment(source: string, start: number, dialect: SqlDialect): string {
  let depth = 0;
  for (let at = start; at < source.length; at++) {
    if (source.startsWith("/*", at) && (depth === 0 || dialect === "postgresql")) {
      depth++;
      at++;
    } else if (source.startsWith("*/", at)) {
      depth--;
      at++;
      if (depth === 0) return source.slice(start, at + 1);
    }
  }
  throw new StatementFault(lineAt(source, start), "the comment that /* begins does not end");
}

/** Reads a quoted text. Quotes are doubled inside; backslashes escape in MySQL and in PostgreSQL's E'…'. */
function readQuoted(source: string, start: number, dialect: SqlDialect, before: string): string {
  const open = source[start]!;
  const close = open === "[" ? "]" : open;
  const escapes =
    (dialect === "mysql" && open !== "`") ||
    (dialect === "postgresql" && open === "'" && /^e$/i.test(before));
  for (let at = start + 1; at < source.length; at++) {
    if (escapes && source[at] === "\\") at++;
    else if (source[at] === close) {
      if (source[at + 1] !== close || close === "]") return source.slice(start, at + 1);
      at++;
    }
  }
  throw new StatementFault(lineAt(source, start), `the quote that ${open} begins does not end`);
}
