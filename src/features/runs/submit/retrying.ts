/** Retries of scripts that triggers start. */
import type { Retry } from "../../../engines/flow-engine/types.ts";
import type { StoredFlow } from "../../code/flows/value/walk-steps.ts";
import { toRetriedScript } from "../flows/live-run.ts";
import type { Submission } from "./submission.ts";
import { findPreprocessorParameters, type Runnable } from "./target.ts";

/**
 * Wraps a script with retries in a flow of one step, whose job shows each attempt. Its result is that of the last one.
 * Steps of flows have their own retries: a flow stays as it is. So does a script of which nothing is ever stored, since
 * a flow stores what it hands to its step.
 * @param retry rule of the trigger, if it has one
 */
export function addRetries(
  submission: Submission,
  found: Runnable,
  retry: Retry | null | undefined,
): Submission {
  if (!retry || found.kind !== "script" || submission.delete_after_use) return submission;
  const { script_path: path, script_hash: hash } = submission;
  // All attempts run the same version.
  const value = { type: "script", path, hash };
  const flow: StoredFlow = {
    ...(findPreprocessorParameters(found) ? { preprocessor_module: { value } } : {}),
    modules: [{ id: "a", value, retry }],
  };
  return {
    ...submission,
    kind: "singlestepflow",
    language: undefined,
    tag: "flow",
    timeout_s: undefined,
    cache_ttl: undefined,
    concurrency: undefined,
    flow: { version: undefined, value: toRetriedScript(flow) },
    raw_flow: JSON.stringify(flow),
  };
}
