/**
 * The stored form of the one-line summary of the sandbox around a job's process. It is the same for nearly all jobs of
 * a server and would be a fifth of their rows, and they would grow by it when they complete, which splits pages.
 */

/** Parts of summaries and the characters stored for them. Stored rows contain them, so they never change. */
const PARTS: readonly [part: string, stored: string][] = [
  ["own user ids", "u"],
  ["system calls", "c"],
  ["local sockets", "s"],
  ["signals", "g"],
  ["signals to other users", "o"],
  ["signals to the server", "r"],
  ["TCP ports", "t"],
  ["own processes and mounts (bwrap)", "b"],
  ["limits", "l"],
  ...Array.from({ length: 9 }, (_, n): [string, string] => [`files (Landlock ${n + 1})`, String(n + 1)]),
];
const storedOf = new Map(PARTS);
const partOf = new Map(PARTS.map(([part, stored]) => [stored, part]));

/** Begins an abbreviated summary. */
const MARK = "~";

let last = { summary: "", stored: "" };

/** Abbreviates a summary if all its parts are known. */
export function abbreviateIsolation(summary: string | null): string | null {
  if (summary === null) return null;
  if (summary !== last.summary) last = { summary, stored: abbreviate(summary) };
  return last.stored;
}

function abbreviate(summary: string): string {
  const stored = summary.split(", ").map((part) => storedOf.get(part));
  if (stored.includes(undefined)) return summary.startsWith(MARK) ? MARK + summary : summary;
  return MARK + stored.join("");
}

/** Returns the summary of a stored value. */
export function expandIsolation(stored: string | null): string | null {
  if (!stored?.startsWith(MARK)) return stored;
  const rest = stored.slice(MARK.length);
  if (rest.startsWith(MARK)) return rest;
  return [...rest].map((character) => partOf.get(character) ?? character).join(", ");
}
