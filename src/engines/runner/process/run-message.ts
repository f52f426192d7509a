import { createSharedFolder } from "../files/shared-folder.ts";
import type { Run } from "../protocol.ts";
import type { RunnerOptions, RunRequest } from "../types.ts";
import type { Child } from "./child.ts";
import { insertToken } from "./job-token.ts";

/**
 * Creates the message that starts a job in a child. Only variables that differ from the previous message's are sent.
 */
export function createRunMessage(child: Child, request: RunRequest, options: RunnerOptions): Run {
  child.runs_sent++;
  return {
    t: "run",
    environment: changedVariables(child.environment, request.environment, child.token),
    entrypoint: request.entrypoint,
    args: insertToken(request, child.token),
    preprocessor_input: request.preprocessor_input,
    shared: request.shared && createSharedFolder(options.directory, request.shared),
    max_result: options.max_result_bytes,
    sequence: child.runs_sent,
  };
}

function changedVariables(
  before: Record<string, string>,
  after: Record<string, string>,
  token: string,
): Record<string, string> {
  const changed: Record<string, string> = { WM_TOKEN: token };
  for (const name in after) if (after[name] !== before[name]) changed[name] = after[name]!;
  return changed;
}
