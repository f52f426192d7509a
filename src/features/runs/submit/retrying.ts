/** Retries of scripts that triggers start. */
import type { FlowValue, Retry } from "../../../engines/flow-engine/types.ts";
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
  const { script_path: path } = submission;
  const step = { type: "script", path, input_transforms: {}, takes_flow_input: true };
  const preprocessor = { id: "preprocessor", value: { type: "script", path, input_transforms: {} } };
  const value = {
    ...(findPreprocessorParameters(found) ? { preprocessor_module: preprocessor } : {}),
    modules: [{ id: "a", value: step, retry }],
  } as FlowValue;
  return {
    ...submission,
    kind: "singlestepflow",
    script_hash: undefined,
    language: undefined,
    tag: "flow",
    timeout_s: undefined,
    cache_ttl: undefined,
    concurrency: undefined,
    flow: { version: undefined, value },
    raw_flow: JSON.stringify(value),
  };
}
