/** Running a tool: a synchronous job, with what it says told as it goes. */

import { BadRequest, SvcError } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { newJobId } from "../../../lib/text/ids.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { describeError } from "../../../platform/http/respond.ts";
import {
  flowSubmission,
  type RunOptions,
  type Submission,
  scriptSubmission,
} from "../../runs/submit/submission.ts";
import { resolveTarget } from "../../runs/submit/target.ts";
import { refuseWhenFull, submitAndWait } from "../../runs/submit/wait.ts";
import { type Listener, listenTo } from "./listen.ts";
import type { Target } from "./tool-names.ts";

/** What the protocol calls the result of a tool. */
export interface ToolResult {
  [key: string]: unknown;
  content: { type: "text"; text: string }[];
  isError?: boolean;
}

/**
 * Runs a tool to its end. What goes wrong, be it that there is none or that its code throws, is told as a result: the
 * agent reads it and may do better.
 * @param args undefined counts as none
 */
export async function callTool(
  ctx: WorkspaceContext,
  target: Target,
  args: Record<string, unknown> | undefined,
  listener: Listener,
): Promise<ToolResult> {
  const job_id = newJobId();
  try {
    refuseWhenFull(ctx.app);
    const submission = await toSubmission(ctx, target, JSON.stringify(args ?? {}), { job_id });
    const listening = listenTo(ctx.app, ctx.caller.member.workspace_id, job_id, listener);
    const end = await submitAndWait(ctx, submission, { job_id }).finally(() => listening.stop());
    const failed = end.status === "failure" || end.status === "canceled";
    return {
      content: [{ type: "text", text: failed ? errorText(end.result) : resultText(end.result) }],
      ...(failed ? { isError: true } : {}),
      _meta: { job_id },
    };
  } catch (error) {
    if (!(error instanceof SvcError))
      ctx.app.log.error({ tool: target.path, error: String(error) }, "a tool failed");
    return { content: [{ type: "text", text: describeError(error).message }], isError: true };
  }
}

/** @throws NotFound, Forbidden, BadRequest */
async function toSubmission(
  ctx: WorkspaceContext,
  { kind, path }: Target,
  args: string,
  options: RunOptions,
): Promise<Submission> {
  const found = await resolveTarget(ctx, kind === "flow" ? { flow: path } : { path });
  if (found.kind === "flow") return flowSubmission(ctx, found.flow, args, options);
  if (found.script.signature) throw new BadRequest(`script ${path} runs for signed requests only`);
  return scriptSubmission(ctx, found.script, args, options);
}

/** A text is told as it is, all else as JSON. */
function resultText(result: string): string {
  const value: unknown = result.startsWith('"') ? parseJson(result) : undefined;
  return typeof value === "string" ? value : result;
}

function errorText(result: string): string {
  const { error } = (parseJson(result) ?? {}) as { error?: { name?: unknown; message?: unknown } };
  return typeof error?.message === "string" ? `${error.name ?? "Error"}: ${error.message}` : result;
}
