/**
 * Whether one JSON value contains another, as the operator `@>` of PostgreSQL's jsonb has it
 * (https://www.postgresql.org/docs/current/datatype-json.html#JSON-CONTAINMENT).
 */

/**
 * Most values in the arrays of what is looked for: each is compared with all that an array holds, on the thread that
 * serves requests.
 */
const MOST_LISTED = 20;

/** What is wrong with a value as one to look for, if anything is. */
export function unsearchable(part: unknown): string | undefined {
  if (listedIn(part, 0) <= MOST_LISTED) return undefined;
  return `its arrays hold more than ${MOST_LISTED} values, the most that are looked for at once`;
}

/** How many values stand in arrays, at any depth; no further than it takes to know that there are too many. */
function listedIn(value: unknown, before: number): number {
  if (!isContainer(value)) return before;
  let count = before + (Array.isArray(value) ? value.length : 0);
  for (const inner of Object.values(value)) {
    if (count > MOST_LISTED) break;
    count = listedIn(inner, count);
  }
  return count;
}

/** An array contains a bare value, but only where both are the whole document. */
export function contains(whole: unknown, part: unknown): boolean {
  return containsAt(whole, part) || (Array.isArray(whole) && !isContainer(part) && whole.includes(part));
}

function containsAt(whole: unknown, part: unknown): boolean {
  if (!isContainer(whole) || !isContainer(part)) return whole === part;
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((inner) => whole.some((outer) => containsAt(outer, inner)));
  }
  if (Array.isArray(whole)) return false;
  // Not a list of the entries: where the first one differs, the others are not looked at.
  for (const key in part) {
    if (!Object.hasOwn(whole, key) || !containsAt(whole[key], part[key])) return false;
  }
  return true;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
