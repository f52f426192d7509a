/** What the names in an expression stand for. All of it is JSON: an expression never sees an object of the host. */

import { parseJson } from "../../../lib/json/json.ts";
import type { Mentions } from "./names.ts";

/** Name → a JSON value, a JsonText, Members, or a function that gives one of these when the name is mentioned. */
export type Scope = Record<string, unknown>;

/** A value as it was stored. It is read at most once, and not at all when it is handed on as it is. */
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

/** An object whose members come one by one, as the results of steps do: each of them is what an entry of a Scope is. */
export class Members {
  readonly of: Scope;
  /** Finds a member that is named and is not one of these. It is not there when the object is taken as a whole. */
  readonly other: ((name: string) => unknown) | undefined;
  constructor(of: Scope, other?: (name: string) => unknown) {
    this.of = of;
    this.other = other;
  }
}

/** Entries after their functions were asked: values, JsonTexts, and Members of these. */
export type Given = Map<string, unknown>;

/** Asks for what the expression mentions, and for nothing else. */
export async function takeMentioned(scope: Scope, mentions: Mentions): Promise<Given> {
  const given: Given = new Map();
  for (const [name, members] of mentions) {
    if (!Object.hasOwn(scope, name)) continue;
    const entry = await ask(scope[name]);
    given.set(name, members === "all" ? entry : pick(entry, members));
  }
  for (const [name, entry] of given) if (entry instanceof Members) given.set(name, await askAll(entry));
  return given;
}

function ask(entry: unknown): unknown {
  return typeof entry === "function" ? entry() : entry;
}

async function askAll({ of }: Members): Promise<Members> {
  const asked = Object.entries(of).map(async ([name, entry]) => [name, await ask(entry)] as const);
  return new Members(Object.fromEntries(await Promise.all(asked)));
}

/** The same object with these members only; what is no plain object remains as it is. */
function pick(entry: unknown, members: readonly string[]): unknown {
  if (entry instanceof Members) return pickMembers(entry, members);
  if (typeof entry !== "object" || entry === null || entry instanceof JsonText || Array.isArray(entry)) {
    return entry;
  }
  return pickFrom(entry as Scope, members);
}

function pickMembers({ of, other }: Members, names: readonly string[]): Members {
  if (!other) return new Members(pickFrom(of, names));
  const entryOf = (name: string) => (Object.hasOwn(of, name) ? of[name] : () => other(name));
  return new Members(Object.fromEntries(names.map((name) => [name, entryOf(name)])));
}

function pickFrom(object: Scope, members: readonly string[]): Scope {
  return Object.fromEntries(
    members.filter((name) => Object.hasOwn(object, name)).map((name) => [name, object[name]]),
  );
}

export function toValue(entry: unknown): unknown {
  if (entry instanceof JsonText) return entry.value;
  if (!(entry instanceof Members)) return entry;
  return Object.fromEntries(Object.entries(entry.of).map(([name, member]) => [name, toValue(member)]));
}

/** @returns undefined for undefined */
export function toText(entry: unknown): string | undefined {
  if (entry instanceof JsonText) return entry.text;
  if (!(entry instanceof Members)) return JSON.stringify(entry);
  const members = Object.entries(entry.of).map(([name, member]) => [JSON.stringify(name), toText(member)]);
  return `{${members.filter(([, text]) => text !== undefined).map(([name, text]) => `${name}:${text}`)}}`;
}
