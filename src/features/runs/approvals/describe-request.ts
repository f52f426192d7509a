/** Describes an approval request to the users who answer it. */
import { SvcError } from "../../../lib/errors.ts";
import { isJsonObject, parseSchemaJson } from "../../../lib/json/json.ts";
import type { Context } from "../../../platform/app/context.ts";
import { type ApprovalRequest, requireCanAnswer } from "./approval-request.ts";
import { toObject } from "./form.ts";

/** Returns the step's result, which may contain a description and form hints. */
export function readStepResult({ job }: ApprovalRequest): Record<string, unknown> {
  return job.status === "success" ? toObject(parseSchemaJson(job.result ?? "null")) : {};
}

/** Fields of a result that configure the page, or that are links created for it. */
const PAGE_FIELDS = ["description", "default_args", "enums", "approvalPage", "resume", "cancel"];

/** Returns the step's own description, else its result without fields that configure the page. */
export function describeRequest(asked: ApprovalRequest): unknown {
  const { job } = asked;
  if (job.status !== "success") return undefined;
  const result = parseSchemaJson(job.result ?? "null");
  if (!isJsonObject(result)) return dropLinks(result);
  const fields = result as Record<string, unknown>;
  if (fields.description !== undefined) return fields.description;
  const shown = Object.entries(fields).filter(([name]) => !PAGE_FIELDS.includes(name));
  return dropLinks(Object.fromEntries(shown));
}

/** Links that answer an approval, each in the name of its approver. */
const ANSWER_LINK = /\/jobs_u\/(resume|cancel)\/|\/approve\//;

/** Removes links that were created for other approvers, at any depth. */
function dropLinks(value: unknown): unknown {
  if (typeof value === "string") return ANSWER_LINK.test(value) ? undefined : value;
  if (Array.isArray(value)) return value.map(dropLinks).filter((inner) => inner !== undefined);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).map(([name, inner]) => [name, dropLinks(inner)] as const);
  return Object.fromEntries(kept.filter(([, inner]) => inner !== undefined));
}

/** Returns why the caller may not answer; undefined if they may. */
export function findRefusal(ctx: Context, asked: ApprovalRequest): string | undefined {
  try {
    requireCanAnswer(ctx.caller, asked);
  } catch (error) {
    if (error instanceof SvcError) return error.message;
    throw error;
  }
  return undefined;
}
