/** What a child is told to run a job. */

import { makeShared } from "../files/shared-folder.ts";
import type { Run } from "../protocol.ts";
import type { RunnerOptions, RunRequest } from "../types.ts";
import type { Child } from "./child.ts";
import { withToken } from "./with-token.ts";

export function runMessage(child: Child, request: RunRequest, options: RunnerOptions): Run {
  return {
    t: "run",
    environment: { ...changes(child.environment, request.environment), WM_TOKEN: child.token },
    entrypoint: request.entrypoint,
    args: withToken(request, child),
    preprocessor_input: request.preprocessor_input,
    shared: request.shared && makeShared(options.directory, request.shared),
    max_result: options.max_result_bytes,
  };
}

function changes(before: Record<string, string>, after: Record<string, string>): Record<string, string> {
  const changed: Record<string, string> = {};
  for (const name in after) if (after[name] !== before[name]) changed[name] = after[name]!;
  return changed;
}
