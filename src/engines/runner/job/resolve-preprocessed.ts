/** Resolves references in a preprocessor's result. The stored result keeps the references; main receives the values. */
import { SvcError } from "../../../lib/errors.ts";
import type { Child } from "../process/child.ts";
import { insertToken } from "../process/job-token.ts";
import type { ReferenceReply } from "../protocol.ts";
import type { JobError, RunnerOptions, RunRequest } from "../types.ts";

/**
 * Resolves the references. Secrets among the values are masked in the child's output from then on.
 * @param args JSON text
 */
export async function resolvePreprocessed(
  child: Child,
  args: string,
  { resolveReferences }: RunRequest,
  log: RunnerOptions["log"],
): Promise<ReferenceReply> {
  try {
    const plain = await resolveReferences!(args);
    for (const secret of plain.secrets) child.output.secrets.add(secret);
    return { t: "referred", args: insertToken(plain, child.output.secrets.token) };
  } catch (cause) {
    return { t: "referred", error: toReferenceError(cause, log) };
  }
}

/** Returns the error to show; details of internal errors go to the log only. */
function toReferenceError(cause: unknown, log: RunnerOptions["log"]): JobError {
  if (cause instanceof SvcError) return { name: cause.name, message: cause.message };
  log("error", "references could not be resolved", { error: String(cause) });
  return { name: "InternalErr", message: "the server could not follow the references; its log says more" };
}
