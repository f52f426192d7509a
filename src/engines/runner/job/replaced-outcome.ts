/** Reads the outcome of a program that replaced its child process, from the files that it wrote. */
import { join } from "node:path";
import { readOwnFile } from "../../../lib/files/own-file.ts";
import { parseJson } from "../../../lib/json/json.ts";
import type { Child } from "../process/child.ts";
import type { ChildExit, JobError, RunOutcome } from "../types.ts";
import { createExitFailure, createFailure } from "./outcomes.ts";

const MAX_ERROR_BYTES = 1_000_000;

export async function readOutcomeFiles(
  child: Child,
  exit: ChildExit,
  max_result: number,
): Promise<RunOutcome> {
  if (exit.code !== 0) {
    const error = await readError(child);
    if (error) return { kind: "failure", error: child.output.secrets.maskValue(error) };
    return createExitFailure(exit, child.output.lastLines());
  }
  const found = await readOwnFile(join(child.folder, "result.json"), max_result);
  if (!found) return { kind: "success", result: "null" };
  if (!found.bytes) return createFailure("ResultTooLarge", `result.json is larger than ${max_result} bytes`);
  try {
    return { kind: "success", result: JSON.stringify(parseJson(found.bytes.toString())) };
  } catch (cause) {
    return createFailure("ResultNotSerializable", `result.json is not JSON: ${(cause as Error).message}`);
  }
}

/** Reads the error thrown by `main`. */
async function readError(child: Child): Promise<JobError | undefined> {
  const found = await readOwnFile(join(child.folder, "error.json"), MAX_ERROR_BYTES);
  try {
    const error = parseJson(found?.bytes?.toString() ?? "null") as Partial<JobError> | null;
    const { name, message, stack } = error ?? {};
    if (typeof name !== "string" || typeof message !== "string") return undefined;
    return { name, message, ...(typeof stack === "string" && stack !== "" ? { stack } : {}) };
  } catch {
    return undefined;
  }
}
