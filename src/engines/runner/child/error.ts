/** Converts thrown values to job errors. */
import type { Load } from "../protocol.ts";
import type { JobError } from "../types.ts";

/** Maximum length of an error's message, and of its stack. */
const MAX_ERROR_CHARACTERS = 100_000;

/**
 * Converts a thrown value to the error of a job.
 * @param version the loaded version: its stack frames are shown under its name, the child program's frames are removed
 */
export function toJobError(cause: unknown, version: Load | undefined): JobError {
  if (!(cause instanceof Error)) {
    const message = typeof cause === "string" ? cause : (safeJson(cause) ?? String(cause));
    return { name: "Error", message: message.slice(0, MAX_ERROR_CHARACTERS) };
  }
  const name = String(cause.name).slice(0, MAX_ERROR_CHARACTERS);
  const error: JobError = { name, message: (cause.message || String(cause)).slice(0, MAX_ERROR_CHARACTERS) };
  const stack = filterUserFrames((cause.stack ?? "").slice(0, MAX_ERROR_CHARACTERS), version);
  if (stack) error.stack = stack;
  const extra: Record<string, unknown> = {};
  for (const key of Object.keys(cause)) {
    if (key !== "name" && key !== "message" && key !== "stack")
      extra[key] = (cause as unknown as Record<string, unknown>)[key];
  }
  const text = Object.keys(extra).length > 0 ? safeJson(extra) : undefined;
  if (text && text.length <= MAX_ERROR_CHARACTERS) error.extra = JSON.parse(text);
  // The bundler reports parse errors in `errors` of an AggregateError.
  if (cause instanceof AggregateError)
    error.message = (error.message + cause.errors.map((each) => `\n${String(each)}`).join("")).slice(
      0,
      MAX_ERROR_CHARACTERS,
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

/** Leaves out the frames of the child program, and names the script's files as their author knows them. */
export function filterUserFrames(stack: string, version: Load | undefined): string {
  if (!version) return stack;
  return stack
    .split("\n")
    .filter((line) => !line.includes(version.runtime) && !/\(?native:|processTicksAndRejections/.test(line))
    .join("\n")
    .replaceAll(version.file, version.display)
    .replaceAll(`${version.root}/`, "")
    .trim();
}
