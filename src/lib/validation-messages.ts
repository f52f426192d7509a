/** Says what is wrong with an input, one sentence per problem: where, what, and what would be right. */
import type { z } from "zod";

type Issue = z.core.$ZodIssue;

/** Problems of one input that are told of. */
const MOST_NAMED = 50;

/** @param value what was checked, for the ids of what the problems are in */
export function explain(where: "query" | "body" | "value", error: z.ZodError, value: unknown): string {
  const more = error.issues.length - MOST_NAMED;
  const named = error.issues
    .slice(0, MOST_NAMED)
    .map((issue) => {
      const path = issue.path.map(String).join(".");
      const id = idOnTheWay(value, issue.path);
      const of = id === undefined ? "" : ` (of ${JSON.stringify(id)})`;
      return `${where}${path ? ` field \`${path}\`${of}` : ""}: ${whatIsRight(issue)}`;
    })
    .join("; ");
  return more > 0 ? `${named}; and ${more} more` : named;
}

/** A schema's own sentence stays as it is; zod's for what a schema says nothing about are put in words of ours. */
function whatIsRight(issue: Issue): string {
  const { message } = issue;
  if (/^Too (small|big): /.test(message)) return bound(issue as Bound);
  if (message === "Invalid input" && issue.code === "invalid_union") {
    const ways = issue.errors.flatMap((inner) => inner.map((each) => whatIsRight(each)));
    return [...new Set(ways)].join("; or ");
  }
  const [, kind, received] = /^Invalid input: expected (\w+), received (\w+)$/.exec(message) ?? [];
  if (kind === "nonoptional") return "is missing";
  if (kind !== undefined) {
    const right = `must be ${kind === "boolean" ? "true or false" : (KINDS[kind] ?? kind)}`;
    return received === "undefined"
      ? `is missing, and ${right}`
      : `${right}, not ${KINDS[received!] ?? received}`;
  }
  return (
    FORMATS[message] ??
    message.replace(/^Invalid option: expected one of /, "must be one of ").replaceAll('"|"', '", "')
  );
}

type Bound = Extract<Issue, { code: "too_small" | "too_big" }>;

function bound(issue: Bound): string {
  const isLeast = issue.code === "too_small";
  const limit = isLeast ? issue.minimum : issue.maximum;
  const unit = issue.origin === "string" ? "character" : issue.origin === "array" ? "item" : undefined;
  if (unit === undefined) {
    const edge = isLeast ? "at least" : "at most";
    return issue.inclusive === false
      ? `must be ${isLeast ? "more" : "less"} than ${limit}`
      : `must be ${edge} ${limit}`;
  }
  if (isLeast && limit === 1 && !issue.exact) return "must not be empty";
  const how = issue.exact ? "exactly" : isLeast ? "at least" : "at most";
  return `must have ${how} ${limit} ${unit}${limit === 1 ? "" : "s"}`;
}

/** Kinds of values as people say them. */
const KINDS: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "a boolean",
  array: "an array",
  object: "an object",
  record: "an object",
};

/** What zod says of texts in a form of their own. */
const FORMATS: Record<string, string> = {
  "Invalid URL": "must be a URL",
  "Invalid UUID": "must be a UUID",
  "Invalid email address": "must be an e-mail address",
  "Invalid ISO datetime": "must be a time such as 2030-01-31T09:00:00Z",
};

/** The id of the innermost thing with one that a path leads into: a number in a list says little to a person. */
function idOnTheWay(value: unknown, path: readonly PropertyKey[]): string | undefined {
  let found: string | undefined;
  let at = value as Record<PropertyKey, unknown> | null | undefined;
  for (const name of path) {
    if (typeof at !== "object" || at === null) break;
    if (typeof at.id === "string") found = at.id;
    at = at[name] as typeof at;
  }
  return found;
}
