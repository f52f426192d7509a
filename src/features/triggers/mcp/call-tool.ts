/** Runs a tool as a synchronous job, and forwards its log and progress. */

import { BadRequest, SvcError } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { createUuid } from "../../../lib/text/ids.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { describeError } from "../../../platform/http/respond.ts";
import {
  createFlowSubmission,
  createScriptSubmission,
  type RunOptions,
  type Submission,
} from "../../runs/submit/submission.ts";
import { awaitTarget } from "../../runs/submit/target.ts";
import { requireWaitCapacity, submitAndWait } from "../../runs/submit/wait.ts";
import { type JobListener, listenToJob } from "./job-listener.ts";
import type { ToolTarget } from "./tool-names.ts";

/** A tool's result in the protocol. */
export interface ToolResult {
  [key: string]: unknown;
  content: { type: "text"; text: string }[];
  isError?: boolean;
}

/**
 * Runs a tool to its completion. Errors, even an unknown tool, are returned as results, so that the agent can react.
 * @param args undefined counts as none
 */
export async function callTool(
  ctx: WorkspaceContext,
  target: ToolTarget,
  args: Record<string, unknown> | undefined,
  listener: JobListener,
): Promise<ToolResult> {
  const job_id = createUuid();
  try {
    requireWaitCapacity(ctx.app);
    const submission = await createToolSubmission(ctx, target, JSON.stringify(args ?? {}), { job_id });
    const listening = listenToJob(ctx.app, ctx.caller.member.workspace_id, job_id, listener);
    const ending = submitAndWait(ctx, submission, { job_id });
    ending.then(
      () => listening.stop(true),
      () => listening.stop(false),
    );
    const end = await ending;
    const failed = end.status === "failure" || end.status === "canceled";
    return {
      content: [{ type: "text", text: failed ? formatToolError(end.result) : formatResult(end.result) }],
      ...(failed ? { isError: true } : {}),
      _meta: { job_id },
    };
  } catch (error) {
    if (!(error instanceof SvcError))
      ctx.app.log.error({ tool: target.path, error: String(error) }, "a tool failed");
    return { content: [{ type: "text", text: describeError(error).message }], isError: true };
  }
}

/** Creates the submission of the job that a tool call runs. @throws NotFound, Forbidden, BadRequest */
async function createToolSubmission(
  ctx: WorkspaceContext,
  { kind, path }: ToolTarget,
  args: string,
  options: RunOptions,
): Promise<Submission> {
  const found = await awaitTarget(ctx, kind === "flow" ? { flow: path } : { path });
  if (found.kind === "flow") return createFlowSubmission(ctx, found.flow, args, options);
  if (found.script.signature) throw new BadRequest(`script ${path} runs for signed requests only`);
  return createScriptSubmission(ctx, found.script, args, options);
}

/** Returns a text as it is, everything else as JSON. */
function formatResult(result: string): string {
  const value: unknown = result.startsWith('"') ? parseJson(result) : undefined;
  return typeof value === "string" ? value : result;
}

function formatToolError(result: string): string {
  const { error } = (parseJson(result) ?? {}) as { error?: { name?: unknown; message?: unknown } };
  return typeof error?.message === "string" ? `${error.name ?? "Error"}: ${error.message}` : result;
}
