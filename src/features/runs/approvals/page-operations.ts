/** The approval page: shown, and sent back by a browser. */
import { z } from "zod";
import { InvalidInput, SvcError, Unauthorized } from "../../../lib/errors.ts";
import { parseFields } from "../../../lib/json/json.ts";
import { messagePage } from "../../../lib/text/html-page.ts";
import type { Context } from "../../../platform/app/context.ts";
import { readText } from "../../../platform/http/input.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { describeError } from "../../../platform/http/respond.ts";
import { approversOf } from "../flows/status/approvers.ts";
import { answer, RESUMES } from "./answer.ts";
import { type Field, fieldsOf, objectOf, valuesOf } from "./form.ts";
import { approvalPage } from "./page.ts";
import { type Asked, askedBy, lateness, requireMayAnswer, requireMaySee } from "./request.ts";
import { checkSignature, type Request, requestOf } from "./signature.ts";

/** Most bytes that a browser's form may hold. */
const MAX_FORM = 1_000_000;

const common = {
  path: "/approve/{workspace}/{job_id}/{resume_id}/{signature}",
  access: "anyone",
  scope: { domain: "jobs", action: "write" },
  page: true,
  query: z.object({ approver: z.string().optional() }),
  responds: responds.raw("text/html", "a page"),
} as const;

interface Link {
  workspace: string;
  job_id: string;
  resume_id: string;
  signature: string;
  query: { approver?: string | undefined };
}

/** @throws Unauthorized, Forbidden, NotFound, BadRequest */
async function open(ctx: Context, link: Link): Promise<{ request: Request; asked: Asked }> {
  const request = requestOf(link, link.query);
  await checkSignature(ctx.app, link.workspace, request, link.signature);
  const asked = await askedBy(ctx.app, link.workspace, request.job_id);
  requireMaySee(ctx.caller, asked);
  return { request, asked };
}

/** Errors are told on a page as well: a person reads them. */
async function asPage(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const { status, message } = describeError(error);
    return messagePage(status, "This did not work", message, error instanceof Unauthorized);
  }
}

/** What the step returned, as far as it is meant for the page. */
function resultOf({ job }: Asked): Record<string, unknown> {
  return job.status === "success" ? objectOf(parseFields(job.result ?? "null")) : {};
}

function formOf(asked: Asked): Field[] {
  return fieldsOf(asked.suspend.resume_form, resultOf(asked));
}

function refusalOf(ctx: Context, asked: Asked): string | undefined {
  try {
    requireMayAnswer(ctx.caller, asked);
  } catch (error) {
    if (error instanceof SvcError) return error.message;
    throw error;
  }
  return undefined;
}

const getApprovalPage = operation({
  ...common,
  name: "getApprovalPage",
  method: "GET",
  summary: "Show a person what a step asks approval for",
  run: (ctx, link) =>
    asPage(async () => {
      const { request, asked } = await open(ctx, link);
      const { module, suspend, state, flow } = asked;
      const approvers = await approversOf(ctx.app, request.job_id);
      return approvalPage({
        flow: flow.job.script_path ?? "a flow",
        step: module.summary || module.id,
        started_by: flow.job.created_by,
        started_at: flow.job.created_at,
        approvers: approvers.map(({ approver }) => approver),
        required: suspend.required_events ?? 1,
        description: resultOf(asked).description,
        fields: formOf(asked),
        hide_cancel: suspend.hide_cancel ?? false,
        refusal: lateness(asked, state)?.message ?? refusalOf(ctx, asked),
      });
    }),
});

const postApprovalPage = operation({
  ...common,
  name: "answerApprovalPage",
  method: "POST",
  summary: "Approve or refuse with the form of the page",
  audit: RESUMES,
  run: (ctx, link) =>
    asPage(async () => {
      const { request, asked } = await open(ctx, link);
      const form = new URLSearchParams(await readText(ctx.request, MAX_FORM));
      const approved = form.get("answer") === "approve";
      if (!approved && form.get("answer") !== "reject") {
        throw new InvalidInput("form field `answer`: must be approve or reject");
      }
      const value = approved ? valuesOf(formOf(asked), form) : null;
      await answer(ctx, link.workspace, request, { approved, value });
      return messagePage(200, approved ? "Approved" : "Rejected", "Thank you. You may close this page.");
    }),
});

export const approvalPageOperations: Operation[] = [getApprovalPage, postApprovalPage];
