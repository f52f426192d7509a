/** What was thrown, as a job's error. */
import type { Load } from "../protocol.ts";
import type { JobError } from "../types.ts";

/** Most characters of an error's message, and of its stack. */
const MAX_ERROR = 100_000;

/** @param version whose code threw it: its frames are shown by its name, and those of the child's program not at all */
export function toError(cause: unknown, version: Load | undefined): JobError {
  if (!(cause instanceof Error)) {
    const message = typeof cause === "string" ? cause : (safeJson(cause) ?? String(cause));
    return { name: "Error", message: message.slice(0, MAX_ERROR) };
  }
  const name = String(cause.name).slice(0, MAX_ERROR);
  const error: JobError = { name, message: (cause.message || String(cause)).slice(0, MAX_ERROR) };
  const stack = userFrames((cause.stack ?? "").slice(0, MAX_ERROR), version);
  if (stack) error.stack = stack;
  const extra: Record<string, unknown> = {};
  for (const key of Object.keys(cause)) {
    if (key !== "name" && key !== "message" && key !== "stack")
      extra[key] = (cause as unknown as Record<string, unknown>)[key];
  }
  const text = Object.keys(extra).length > 0 ? safeJson(extra) : undefined;
  if (text && text.length <= MAX_ERROR) error.extra = JSON.parse(text);
  // What the bundler says of a file that does not parse stands in `errors` of an AggregateError.
  if (cause instanceof AggregateError)
    error.message = (error.message + cause.errors.map((each) => `\n${String(each)}`).join("")).slice(
      0,
      MAX_ERROR,
    );
  return error;
}

function safeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function userFrames(stack: string, version: Load | undefined): string {
  if (!version) return stack;
  return stack
    .split("\n")
    .filter((line) => !line.includes(version.runtime) && !/\(?native:|processTicksAndRejections/.test(line))
    .join("\n")
    .replaceAll(version.file, version.display)
    .replaceAll(`${version.root}/`, "")
    .trim();
}
