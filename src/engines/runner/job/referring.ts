/** What a preprocessor has made of arguments is stored as it is, and given to main without references. */
import { SvcError } from "../../../lib/errors.ts";
import type { Child } from "../process/child.ts";
import { withToken } from "../process/with-token.ts";
import type { Referred } from "../protocol.ts";
import type { JobError, RunnerOptions, RunRequest } from "../types.ts";

/** @param args JSON text; what is secret in what they lead to is masked in the child's output from then on */
export async function answerReferring(
  child: Child,
  args: string,
  { followReferences }: RunRequest,
  log: RunnerOptions["log"],
): Promise<Referred> {
  try {
    const plain = await followReferences!(args);
    for (const secret of plain.secrets) child.output.secrets.add(secret);
    return { t: "referred", args: withToken(plain, child) };
  } catch (cause) {
    return { t: "referred", error: toldOf(cause, log) };
  }
}

/** What goes wrong inside the server is the operator's matter. */
function toldOf(cause: unknown, log: RunnerOptions["log"]): JobError {
  if (cause instanceof SvcError) return { name: cause.name, message: cause.message };
  log("error", "references could not be followed", { error: String(cause) });
  return { name: "InternalErr", message: "the server could not follow the references; its log says more" };
}
