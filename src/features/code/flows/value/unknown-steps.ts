/** Finds expressions that refer to results of steps that the flow does not have. */
import { findNames } from "../../../../engines/expressions/parse/names.ts";
import { parseText } from "../../../../engines/expressions/parse/parse.ts";
import { isJsonObject } from "../../../../lib/json/json.ts";
import { type StoredFlow, type StoredObject, walkSteps } from "./walk-steps.ts";

export interface UnknownStep {
  /** Position of the expression, from the flow's value down. */
  path: (string | number)[];
  /** Step whose expression it is. */
  step: string;
  /** Id of the missing step. */
  unknown: string;
}

/** Longer expressions are not read, nor those after this many characters in all: they would hold up other requests. */
const MAX_CHARACTERS = 10_000;
const MAX_TOTAL_CHARACTERS = 100_000;
/** A possible reference to a step. Only expressions in which it names an unknown step are parsed. */
const REFERENCE = /\bresults\s*(?:\?\.\s*)?(?:\.\s*|\[\s*["'`])?([\w$]+)/g;

interface Expression {
  text: string;
  path: (string | number)[];
}

/**
 * Finds references to results of steps that the flow does not have.
 * @param most number of references after which it stops
 */
export function findUnknownSteps(flow: StoredFlow, most: number): UnknownStep[] {
  const steps = [...walkSteps(flow)];
  const ids = new Set(steps.map(({ id }) => id));
  const modules = new Set<unknown>(steps.map(({ module }) => module));
  const found: UnknownStep[] = [];
  let left = MAX_TOTAL_CHARACTERS;
  for (const { id: step, module, place } of steps) {
    for (const { text, path } of listExpressions(module, toPath(place), modules)) {
      if (text.length > MAX_CHARACTERS) continue;
      left -= text.length;
      if (left < 0) return found;
      for (const unknown of listUnknown(text, ids)) found.push({ path, step, unknown });
      if (found.length >= most) return found.slice(0, most);
    }
  }
  return found;
}

/** Converts a place such as `value.modules.0` to a path from the flow's value down. */
function toPath(place: string): (string | number)[] {
  const keys = place.split(".").slice(1);
  return keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key));
}

/** Yields the expressions of a step, without those of the steps nested in it and without constant values. */
function* listExpressions(
  value: unknown,
  path: (string | number)[],
  modules: ReadonlySet<unknown>,
): Generator<Expression> {
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value as StoredObject);
  if ((value as StoredObject).type === "static") return;
  for (const [key, inner] of entries) {
    const at = [...path, key];
    if (key === "expr" && typeof inner === "string") yield { text: inner, path: at };
    else if ((Array.isArray(inner) || isJsonObject(inner)) && !modules.has(inner))
      yield* listExpressions(inner, at, modules);
  }
}

function listUnknown(text: string, ids: ReadonlySet<string>): string[] {
  const named = [...text.matchAll(REFERENCE)].map(([, name]) => name!);
  if (named.every((name) => ids.has(name))) return [];
  const mentioned = mentionedSteps(text);
  return mentioned === "all" ? [] : [...new Set(mentioned)].filter((name) => !ids.has(name));
}

function mentionedSteps(text: string): readonly string[] | "all" {
  try {
    return findNames(parseText(text).root).mentions.get("results") ?? [];
  } catch {
    // Syntax errors are found where the expression is edited and evaluated.
    return [];
  }
}
