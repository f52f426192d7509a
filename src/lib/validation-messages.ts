/** Describes validation errors, one sentence per issue: where, what, and what would be right. */
import type * as z from "./zod/z.ts";

type Issue = z.core.$ZodIssue;

/** Most issues listed for one input. */
const MAX_NAMED_ISSUES = 50;

/** Describes the issues of an input. @param value the input, for the ids of the items with issues */
export function describeIssues(where: "query" | "body" | "value", error: z.ZodError, value: unknown): string {
  const more = error.issues.length - MAX_NAMED_ISSUES;
  const named = error.issues
    .slice(0, MAX_NAMED_ISSUES)
    .map((issue) => {
      const path = issue.path.map(String).join(".");
      const id = innermostId(value, issue.path);
      const of = id === undefined ? "" : ` (of ${JSON.stringify(id)})`;
      return `${where}${path ? ` field \`${path}\`${of}` : ""}: ${describeIssue(issue)}`;
    })
    .join("; ");
  return more > 0 ? `${named}; and ${more} more` : named;
}

/** Describes an issue. Messages set by a schema stay as they are; zod's default messages are replaced. */
export function describeIssue(issue: Issue): string {
  const { message } = issue;
  if (/^Too (small|big): /.test(message)) return describeBound(issue as Bound);
  if (message === "Invalid input" && issue.code === "invalid_union") {
    const ways = issue.errors.flatMap((inner) => inner.map((each) => describeIssue(each)));
    return [...new Set(ways)].join("; or ");
  }
  const [, kind, received] = /^Invalid input: expected (\w+), received (\w+)$/.exec(message) ?? [];
  if (kind === "nonoptional") return "is missing";
  if (kind !== undefined) {
    const right = `must be ${kind === "boolean" ? "true or false" : (TYPE_NAMES[kind] ?? kind)}`;
    return received === "undefined"
      ? `is missing, and ${right}`
      : `${right}, not ${TYPE_NAMES[received!] ?? received}`;
  }
  const kinds = /^Invalid discriminator value\. Expected (.+)$/.exec(message)?.[1];
  if (kinds !== undefined) return `must be one of ${kinds.replaceAll("'", '"').replaceAll(" | ", ", ")}`;
  return (
    FORMAT_MESSAGES[message] ??
    message.replace(/^Invalid option: expected one of /, "must be one of ").replaceAll('"|"', '", "')
  );
}

type Bound = Extract<Issue, { code: "too_small" | "too_big" }>;

function describeBound(issue: Bound): string {
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

/** Names of types in messages. */
const TYPE_NAMES: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "a boolean",
  array: "an array",
  object: "an object",
  record: "an object",
};

/** Replacements of zod's default messages for string formats. */
const FORMAT_MESSAGES: Record<string, string> = {
  "Invalid URL": "must be a URL",
  "Invalid UUID": "must be a UUID",
  "Invalid email address": "must be an e-mail address",
  "Invalid ISO datetime": "must be a time such as 2030-01-31T09:00:00Z",
};

/** Returns the id of the innermost object with an `id` on the path, because list indexes say little to people. */
function innermostId(value: unknown, path: readonly PropertyKey[]): string | undefined {
  let found: string | undefined;
  let at = value as Record<PropertyKey, unknown> | null | undefined;
  for (const name of path) {
    if (typeof at !== "object" || at === null) break;
    if (typeof at.id === "string") found = at.id;
    at = at[name] as typeof at;
  }
  return found;
}
