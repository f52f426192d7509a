/** Finds the name that was probably meant by a misspelled one. */

/** Names that differ by more edits are not suggested. */
const MAX_EDITS = 3;

/**
 * Returns the candidate with the fewest differences; undefined if all differ too much, such as in each character of
 * a short name.
 */
export function findNearest(text: string, candidates: readonly string[]): string | undefined {
  const name = text.slice(text.lastIndexOf("/") + 1);
  const limit = Math.min(MAX_EDITS, name.length - 1);
  const [nearest] = candidates
    .map((candidate) => ({ candidate, edits: countEdits(text, candidate) }))
    .filter(({ edits }) => edits <= limit)
    .sort((a, b) => a.edits - b.edits);
  return nearest?.candidate;
}

/** Counts inserted, removed and replaced characters (Levenshtein distance). */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next[j] = Math.min(replaced, row[j]! + 1, next[j - 1]! + 1);
    }
    row = next;
  }
  return row.at(-1)!;
}
