/**
 * JSON containment, with the semantics of the `@>` operator of PostgreSQL's jsonb
 * (https://www.postgresql.org/docs/current/datatype-json.html#JSON-CONTAINMENT).
 */

/** Most array values in a search pattern: each is compared with every element of an array, on the event loop. */
const MAX_LISTED_VALUES = 20;

/** Returns why a value cannot be used as a search pattern; undefined if it can. */
export function explainUnsearchable(part: unknown): string | undefined {
  if (countListedValues(part, 0) <= MAX_LISTED_VALUES) return undefined;
  return `its arrays hold more than ${MAX_LISTED_VALUES} values, the most that are looked for at once`;
}

/** Counts the values in arrays, at any depth, until the limit is exceeded. */
function countListedValues(value: unknown, before: number): number {
  if (!isContainer(value)) return before;
  let count = before + (Array.isArray(value) ? value.length : 0);
  for (const inner of Object.values(value)) {
    if (count > MAX_LISTED_VALUES) break;
    count = countListedValues(inner, count);
  }
  return count;
}

/** Whether `whole` contains `part`. An array contains a bare value only at the top level. */
export function containsJson(whole: unknown, part: unknown): boolean {
  return containsAt(whole, part) || (Array.isArray(whole) && !isContainer(part) && whole.includes(part));
}

function containsAt(whole: unknown, part: unknown): boolean {
  if (!isContainer(whole) || !isContainer(part)) return whole === part;
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((inner) => whole.some((outer) => containsAt(outer, inner)));
  }
  if (Array.isArray(whole)) return false;
  // A loop instead of a list of entries, to stop at the first difference.
  for (const key in part) {
    if (!Object.hasOwn(whole, key) || !containsAt(whole[key], part[key])) return false;
  }
  return true;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
