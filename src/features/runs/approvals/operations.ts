/** Approval operations, and user states: values that the scripts of a flow run share. */
import { and, eq } from "drizzle-orm";
import { NotFound } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import type { Context, WorkspaceContext } from "../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { isFrame } from "../../../platform/queue/states.ts";
import { createRedirect } from "../../assets/connecting/pages.ts";
import { flowUserStates } from "../../code/flows/tables.ts";
import { listApprovers } from "../flows/status/approvers.ts";
import { readFlowFields } from "../flows/status/status.ts";
import { JobRecord, redactRecord, toJobRecord } from "../job/records.ts";
import { getJob, getJobToChange } from "../submit/find-and-cancel.ts";
import {
  answerApproval,
  approveAsOwner,
  DISAPPROVAL_AUDIT,
  getWaitingRequest,
  RESUME_AUDIT,
} from "./answer.ts";
import { getApprovalRequest, requireCanSee } from "./approval-request.ts";
import { type LinkRequest, parseLinkRequest, requireApprovalSignature } from "./link-signature.ts";
import { createPageUrl, signApprovalLink } from "./links.ts";
import { isOpenedInMessage, parsePayload } from "./opened-links.ts";

const base = "/w/{workspace}/jobs" as const;
const publicPath = "/w/{workspace}/jobs_u" as const;
const signedPath = "{job_id}/{resume_id}/{signature}" as const;

const read = { domain: "jobs", action: "read" } as const;
const write = { domain: "jobs", action: "write" } as const;

/** The value of `resume` in the next step; default: an empty object. */
const Payload = z.unknown().prefault({});

const ApproverQuery = z.object({ approver: z.string().optional() });

const getJobSignature = operation({
  name: "createJobSignature",
  method: "GET",
  path: `${base}/job_signature/{job_id}/{resume_id}`,
  access: "member",
  scope: write,
  summary: "Sign the approval of a step, to create links to it",
  query: ApproverQuery,
  responds: responds.text("the signature, in hex"),
  run: (ctx, { workspace, query, ...input }) =>
    signApprovalLink(ctx, workspace, parseLinkRequest(input, query)),
});

export const getResumeUrls = operation({
  name: "getResumeUrls",
  method: "GET",
  path: `${base}/resume_urls/{job_id}/{resume_id}`,
  access: "member",
  scope: write,
  summary: "Create the links that approve or reject a step's approval request, by its job or by the flow's",
  query: ApproverQuery,
  responds: responds.json(
    z.object({ approvalPage: z.string(), resume: z.string(), cancel: z.string() }),
    "the page for a person, and the links for programs",
  ),
  run: async (ctx, { workspace, query, ...input }) => {
    const request = await resolveAskingStep(ctx, parseLinkRequest(input, query));
    const { job_id, resume_id, approver } = request;
    const signature = await signApprovalLink(ctx, workspace, request);
    const tail = `${job_id}/${resume_id}/${signature}`;
    const search = approver ? `?approver=${encodeURIComponent(approver)}` : "";
    const at = ctx.app.urls.base;
    return {
      approvalPage: createPageUrl(ctx.app, workspace, request, signature),
      resume: `${at}/api/w/${workspace}/jobs_u/resume/${tail}${search}`,
      cancel: `${at}/api/w/${workspace}/jobs_u/cancel/${tail}${search}`,
    };
  },
});

/** Replaces the id of a flow's job by that of the step that asks for approval. @throws Conflict if none does */
async function resolveAskingStep(ctx: WorkspaceContext, request: LinkRequest): Promise<LinkRequest> {
  const job = await getJob(ctx, ctx.caller.member.workspace_id, request.job_id);
  if (!isFrame(job.kind) || job.flow_step_id !== null) return request;
  return { ...request, job_id: (await getWaitingRequest(ctx.app, job)).job.id };
}

interface LinkParameters {
  workspace: string;
  job_id: string;
  resume_id: string;
  signature: string;
}

/** Answers by link. @throws Unauthorized for an invalid signature, and as `answerApproval` */
async function answerByLink(
  ctx: Context,
  { workspace, signature, ...input }: LinkParameters,
  query: { approver?: string | undefined },
  { approved, value }: { approved: boolean; value: unknown },
): Promise<string> {
  const request = parseLinkRequest(input, query);
  await requireApprovalSignature(ctx.app, workspace, request, signature);
  await answerApproval(ctx, workspace, request, { approved, value });
  return "";
}

function createLinkOperations<const V extends "resume" | "cancel">(verb: V, approved: boolean) {
  const common = {
    path: `${publicPath}/${verb}/${signedPath}`,
    access: "anyone",
    scope: write,
    cors: true,
    audit: approved ? RESUME_AUDIT : DISAPPROVAL_AUDIT,
    responds: responds.created("nothing"),
  } as const;
  const what = approved ? "Approve" : "Refuse";
  return [
    operation({
      ...common,
      name: `${verb}SuspendedJobGet`,
      method: "GET",
      cookie: "ignored",
      summary: `${what} what a step asks for, by a signed link; browsers and previews of links get its page instead`,
      query: ApproverQuery.extend({ payload: z.string().optional() }),
      responds: { ...responds.raw("text/plain", "nothing, or a redirect to the page"), status: 201 },
      run: async (ctx, { query, ...given }) => {
        const link = given as unknown as LinkParameters;
        if (isOpenedInMessage(ctx.request)) {
          const request = parseLinkRequest(link, query);
          const page = createPageUrl(ctx.app, link.workspace, request, link.signature, query.payload);
          return createRedirect(page, []);
        }
        const value = parsePayload(query.payload) ?? null;
        return new Response(await answerByLink(ctx, link, query, { approved, value }), {
          status: 201,
          headers: { "content-type": "text/plain; charset=utf-8" },
        });
      },
    }),
    operation({
      ...common,
      name: `${verb}SuspendedJobPost`,
      method: "POST",
      summary: `${what} what a step asks for, by a signed link; the body is what the next step reads`,
      query: ApproverQuery,
      body: Payload,
      run: (ctx, { query, body, ...link }) =>
        answerByLink(ctx, link as unknown as LinkParameters, query, { approved, value: body }),
    }),
  ];
}

const getSuspendedJobFlow = operation({
  name: "getSuspendedJobFlow",
  method: "GET",
  path: `${publicPath}/get_flow/${signedPath}`,
  access: "anyone",
  scope: read,
  cors: true,
  summary: "Read the flow of a signed link, and its approvers so far",
  query: ApproverQuery,
  responds: responds.json(
    z.object({
      job: JobRecord,
      approvers: z.array(z.object({ resume_id: z.number(), approver: z.string() })),
    }),
  ),
  run: async (ctx, { workspace, signature, query, ...input }) => {
    const request = parseLinkRequest(input, query);
    await requireApprovalSignature(ctx.app, workspace, request, signature);
    const asked = await getApprovalRequest(ctx.app, workspace, request.job_id);
    requireCanSee(ctx.caller, asked);
    const { job } = asked.flow;
    return {
      job: redactRecord(ctx.caller, { ...toJobRecord(job), ...(await readFlowFields(ctx.app, job)) }),
      approvers: await listApprovers(ctx.app, request.job_id),
    };
  },
});

const resumeSuspendedFlowAsOwner = operation({
  name: "resumeSuspendedFlowAsOwner",
  method: "POST",
  path: `${base}/flow/resume/{flow_job_id}`,
  access: "member",
  scope: false,
  summary: "Approve a waiting flow as an owner of its path; the body is passed to the next step",
  body: Payload,
  audit: RESUME_AUDIT,
  responds: responds.created("nothing"),
  run: async (ctx, { flow_job_id, body }) => {
    await approveAsOwner(ctx, flow_job_id, body);
    return "";
  },
});

/** Returns the key of a value that the scripts of a flow run share. @throws NotFound for a job that is not a flow */
async function getUserStateKey(ctx: Context, workspace: string, flow_job_id: string, key: string) {
  const job = await getJob(ctx, workspace, flow_job_id);
  if (!isFrame(job.kind)) throw new NotFound(`job ${job.id} is not a flow: it is a ${job.kind}`);
  return { job_id: job.id, key };
}

const getFlowUserState = operation({
  name: "getFlowUserState",
  method: "GET",
  path: `${base}/flow/user_states/{flow_job_id}/{key}`,
  access: "member",
  scope: read,
  summary: "Read a value that scripts of a flow share under a key; null without one",
  responds: responds.json(z.unknown(), "the value"),
  run: async (ctx, { workspace, flow_job_id, key }) => {
    const { job_id } = await getUserStateKey(ctx, workspace, flow_job_id, key);
    const [row] = await ctx.app.db.read
      .select({ value: flowUserStates.value })
      .from(flowUserStates)
      .where(and(eq(flowUserStates.job_id, job_id), eq(flowUserStates.key, key)));
    return row?.value ?? null;
  },
});

const setFlowUserState = operation({
  name: "setFlowUserState",
  method: "POST",
  path: `${base}/flow/user_states/{flow_job_id}/{key}`,
  access: "member",
  scope: write,
  summary: "Set a value under a key, for other scripts of the flow",
  body: z.unknown(),
  responds: responds.text("what was kept"),
  run: async (ctx, { workspace, flow_job_id, key, body }) => {
    const place = await getUserStateKey(ctx, workspace, flow_job_id, key);
    await getJobToChange(ctx, workspace, flow_job_id);
    const value = body ?? null;
    await ctx.app.db.write((tx) =>
      tx
        .insert(flowUserStates)
        .values({ ...place, value })
        .onConflictDoUpdate({ target: [flowUserStates.job_id, flowUserStates.key], set: { value } }),
    );
    return `${key} of flow ${place.job_id} set`;
  },
});

export const approvalOperations: Operation[] = [
  getJobSignature,
  getResumeUrls,
  ...createLinkOperations("resume", true),
  ...createLinkOperations("cancel", false),
  getSuspendedJobFlow,
  resumeSuspendedFlowAsOwner,
  getFlowUserState,
  setFlowUserState,
];
