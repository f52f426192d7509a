/** Values of the names in an expression. All are JSON: an expression never sees host objects. */

import { parseJson } from "../../../lib/json/json.ts";
import type { Mentions } from "./names.ts";

/** Name → JSON value, JsonText, Members, or a function that returns one of these when the name is used. */
export type ExpressionScope = Record<string, unknown>;

/** A stored JSON text, parsed at most once, and not at all if it is passed on unchanged. */
export class JsonText {
  readonly text: string;
  private read: { value: unknown } | undefined;
  constructor(text: string) {
    this.text = text;
  }

  get value(): unknown {
    this.read ??= { value: parseJson(this.text) };
    return this.read.value;
  }
}

/** An object with lazily resolved members, such as the results of steps. Each member is a scope entry. */
export class Members {
  readonly entries: ExpressionScope;
  /** Finds a member that is not among the entries; not included when the object is used as a whole. */
  readonly findOther: ((name: string) => unknown) | undefined;
  constructor(of: ExpressionScope, other?: (name: string) => unknown) {
    this.entries = of;
    this.findOther = other;
  }
}

/** Resolved entries: values, JsonTexts, and Members of these. */
export type GivenValues = Map<string, unknown>;

/** Resolves only the names that the expression mentions. */
export async function resolveMentioned(scope: ExpressionScope, mentions: Mentions): Promise<GivenValues> {
  const given: GivenValues = new Map();
  for (const [name, members] of mentions) {
    if (!Object.hasOwn(scope, name)) continue;
    const entry = await resolveEntry(scope[name]);
    given.set(name, members === "all" ? entry : pick(entry, members));
  }
  for (const [name, entry] of given)
    if (entry instanceof Members) given.set(name, await resolveMembers(entry));
  return given;
}

function resolveEntry(entry: unknown): unknown {
  return typeof entry === "function" ? entry() : entry;
}

async function resolveMembers({ entries }: Members): Promise<Members> {
  const asked = Object.entries(entries).map(
    async ([name, entry]) => [name, await resolveEntry(entry)] as const,
  );
  return new Members(Object.fromEntries(await Promise.all(asked)));
}

/** Returns the object with these members only; other values unchanged. */
function pick(entry: unknown, members: readonly string[]): unknown {
  if (entry instanceof Members) return pickMembers(entry, members);
  if (typeof entry !== "object" || entry === null || entry instanceof JsonText || Array.isArray(entry)) {
    return entry;
  }
  return pickFrom(entry as ExpressionScope, members);
}

function pickMembers({ entries, findOther }: Members, names: readonly string[]): Members {
  if (!findOther) return new Members(pickFrom(entries, names));
  const entryOf = (name: string) => (Object.hasOwn(entries, name) ? entries[name] : () => findOther(name));
  return new Members(Object.fromEntries(names.map((name) => [name, entryOf(name)])));
}

function pickFrom(object: ExpressionScope, members: readonly string[]): ExpressionScope {
  return Object.fromEntries(
    members.filter((name) => Object.hasOwn(object, name)).map((name) => [name, object[name]]),
  );
}

export function entryToValue(entry: unknown): unknown {
  if (entry instanceof JsonText) return entry.value;
  if (!(entry instanceof Members)) return entry;
  return Object.fromEntries(
    Object.entries(entry.entries).map(([name, member]) => [name, entryToValue(member)]),
  );
}

/** Serializes an entry. @returns undefined for undefined */
export function entryToText(entry: unknown): string | undefined {
  if (entry instanceof JsonText) return entry.text;
  if (!(entry instanceof Members)) return JSON.stringify(entry);
  const members = Object.entries(entry.entries).map(([name, member]) => [
    JSON.stringify(name),
    entryToText(member),
  ]);
  return `{${members.filter(([, text]) => text !== undefined).map(([name, text]) => `${name}:${text}`)}}`;
}
