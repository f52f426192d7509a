/** The approval page: shows the form and receives it. */
import { and, eq } from "drizzle-orm";
import { InvalidInput, SvcError, Unauthorized } from "../../../lib/errors.ts";
import { RETRY, renderMessagePage } from "../../../lib/text/html-page.ts";
import * as z from "../../../lib/zod/z.ts";
import type { App, Context } from "../../../platform/app/context.ts";
import { readText } from "../../../platform/http/input.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { describeError } from "../../../platform/http/respond.ts";
import { flows } from "../../code/flows/tables.ts";
import { listApprovers } from "../flows/status/approvers.ts";
import { answerApproval, RESUME_AUDIT } from "./answer.ts";
import {
  type ApprovalRequest,
  findExpiryError,
  getApprovalRequest,
  requireCanSee,
} from "./approval-request.ts";
import { describeRequest, findRefusal, readStepResult } from "./describe-request.ts";
import { createFormFields, type FormField, parseFormValues, toObject } from "./form.ts";
import { type LinkRequest, parseLinkRequest, requireApprovalSignature } from "./link-signature.ts";
import { parsePayload } from "./opened-links.ts";
import { renderApprovalPage } from "./page.ts";

/** Maximum size of a submitted form in bytes. */
const MAX_FORM_BYTES = 1_000_000;

const common = {
  path: "/approve/{workspace}/{job_id}/{resume_id}/{signature}",
  access: "anyone",
  scope: { domain: "jobs", action: "write" },
  page: true,
  query: z.object({ approver: z.string().optional(), payload: z.string().optional() }),
  responds: responds.raw("text/html", "a page"),
} as const;

interface PageLink {
  workspace: string;
  job_id: string;
  resume_id: string;
  signature: string;
  query: { approver?: string | undefined; payload?: string | undefined };
}

/** Verifies an approval link and reads its request. @throws Unauthorized, Forbidden, NotFound, BadRequest */
async function openLink(
  ctx: Context,
  link: PageLink,
): Promise<{ request: LinkRequest; asked: ApprovalRequest }> {
  const request = parseLinkRequest(link, link.query);
  await requireApprovalSignature(ctx.app, link.workspace, request, link.signature);
  const asked = await getApprovalRequest(ctx.app, link.workspace, request.job_id);
  requireCanSee(ctx.caller, asked);
  return { request, asked };
}

/** Renders errors as a page, for people. */
async function withErrorPage(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const { status, message } = describeError(error);
    return renderMessagePage(
      status,
      "This did not work",
      message,
      error instanceof Unauthorized ? RETRY : undefined,
    );
  }
}

async function findFlowSummary(app: App, workspace_id: string, path: string | null): Promise<string> {
  if (path === null) return "";
  const [row] = await app.db.read
    .select({ summary: flows.summary })
    .from(flows)
    .where(and(eq(flows.workspace_id, workspace_id), eq(flows.path, path)));
  return row?.summary ?? "";
}

function createForm(asked: ApprovalRequest): FormField[] {
  return createFormFields(asked.suspend.resume_form, readStepResult(asked));
}

/** Returns what the next step reads: what the link says, with the values of the form. */
function createAnswer(payload: unknown, fields: FormField[], form: URLSearchParams): unknown {
  if (payload !== undefined && fields.length === 0) return payload;
  return { ...toObject(payload), ...parseFormValues(fields, form) };
}

const getApprovalPage = operation({
  ...common,
  name: "getApprovalPage",
  method: "GET",
  summary: "Show the approval page of a step",
  run: (ctx, link) =>
    withErrorPage(async () => {
      const { request, asked } = await openLink(ctx, link);
      const { module, suspend, state, flow } = asked;
      const approvers = await listApprovers(ctx.app, request.job_id);
      return renderApprovalPage({
        flow: flow.job.script_path ?? "a flow",
        step: module.summary || module.id,
        started_by: flow.job.created_by,
        started_at: flow.job.created_at,
        approvers: approvers.map(({ approver }) => approver),
        required: suspend.required_events ?? 1,
        summary: await findFlowSummary(ctx.app, link.workspace, flow.job.script_path),
        description: describeRequest(asked),
        input: flow.input,
        fields: createForm(asked),
        answer: parsePayload(link.query.payload),
        hide_cancel: suspend.hide_cancel ?? false,
        refusal: findExpiryError(asked, state)?.message ?? findRefusal(ctx, asked),
      });
    }),
});

const postApprovalPage = operation({
  ...common,
  name: "answerApprovalPage",
  method: "POST",
  summary: "Approve or reject with the form of the page",
  audit: RESUME_AUDIT,
  run: (ctx, link) =>
    withErrorPage(async () => {
      const { request, asked } = await openLink(ctx, link);
      const form = new URLSearchParams(await readText(ctx.request, MAX_FORM_BYTES));
      const approved = form.get("answer") === "approve";
      if (!approved && form.get("answer") !== "reject") {
        throw new InvalidInput("form field `answer`: must be approve or reject");
      }
      const value = approved ? createAnswer(parsePayload(link.query.payload), createForm(asked), form) : null;
      await answerApproval(ctx, link.workspace, request, { approved, value });
      return renderMessagePage(
        200,
        approved ? "Approved" : "Rejected",
        "Thank you. You may close this page.",
      );
    }),
});

export const approvalPageOperations: Operation[] = [getApprovalPage, postApprovalPage];
