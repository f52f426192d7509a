/** Resolves the locks of the scripts in a flow that a client is about to deploy. */
import { BadRequest } from "../../../../lib/errors.ts";
import { parseSchemaJson } from "../../../../lib/json/json.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { lockTrivialScripts } from "../../../code/flows/locks.ts";
import { OpenFlowValue } from "../../../code/flows/value/open-flow.ts";
import type { Submission } from "../../submit/submission.ts";
import { submitJob } from "../../submit/submit.ts";
import { submitAndWait } from "../../submit/wait.ts";

const base = "/w/{workspace}/jobs" as const;

const Dependencies = z.object({ path: z.string(), flow_value: OpenFlowValue });

/** Creates the submission of a flow dependency job. Scripts with syntax errors are rejected before. */
async function createFlowLockSubmission(
  ctx: WorkspaceContext,
  { path, flow_value }: z.output<typeof Dependencies>,
): Promise<Submission> {
  const { value } = await lockTrivialScripts(ctx.caller.member.workspace_id, flow_value);
  return {
    kind: "flowdependencies",
    script_path: path,
    script_hash: undefined,
    language: undefined,
    tag: "dependency",
    priority: 0,
    timeout_s: undefined,
    raw_flow: JSON.stringify(value),
    args: "{}",
    visible_to_owner: true,
  };
}

const common = {
  access: "author",
  scope: { domain: "jobs", action: "run" },
  audit: { operation: "jobs.flow_dependencies", action_kind: "Execute" },
  body: Dependencies,
} as const;

const runFlowDependencies = operation({
  ...common,
  name: "runFlowDependencies",
  method: "POST",
  path: `${base}/run/flow_dependencies`,
  summary: "Resolve the locks of the scripts in an undeployed flow",
  responds: responds.json(
    z.object({ updated_flow_value: OpenFlowValue }),
    "the flow with the locks of its scripts",
  ),
  run: async (ctx, { body }) => {
    const end = await submitAndWait(ctx, await createFlowLockSubmission(ctx, body), {});
    const { updated_flow_value, error } = parseSchemaJson(end.result) as {
      updated_flow_value?: OpenFlowValue;
      error?: { message: string };
    };
    if (!updated_flow_value) throw new BadRequest(error?.message ?? "the locks could not be found");
    return { updated_flow_value };
  },
});

const runFlowDependenciesAsync = operation({
  ...common,
  name: "runFlowDependenciesAsync",
  method: "POST",
  path: `${base}/run/flow_dependencies_async`,
  summary: "Resolve the locks of the scripts in an undeployed flow, asynchronously",
  responds: responds.created("uuid of the job"),
  run: async (ctx, { body }) => (await submitJob(ctx, await createFlowLockSubmission(ctx, body), {})).id,
});

export const flowDependencyOperations: Operation[] = [runFlowDependencies, runFlowDependenciesAsync];
