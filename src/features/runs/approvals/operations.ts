/** Approvals, and the values that scripts of a flow keep for each other. */
import { and, eq } from "drizzle-orm";
import { z } from "zod";
import { NotFound } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import type { Context } from "../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { isFrame } from "../../../platform/queue/states.ts";
import { flowUserStates } from "../../code/flows/tables.ts";
import { decodePayload } from "../arguments/arguments.ts";
import { approversOf } from "../flows/status/approvers.ts";
import { flowFacts } from "../flows/status/status.ts";
import { JobRecord, toldTo, toRecord } from "../job/records.ts";
import { getJob } from "../submit/service.ts";
import { answer, approveAsOwner, REFUSES, RESUMES } from "./answer.ts";
import { signFor } from "./links.ts";
import { askedBy, requireMaySee } from "./request.ts";
import { checkSignature, requestOf } from "./signature.ts";

const base = "/w/{workspace}/jobs" as const;
const open = "/w/{workspace}/jobs_u" as const;
const signed = "{job_id}/{resume_id}/{signature}" as const;

const read = { domain: "jobs", action: "read" } as const;
const write = { domain: "jobs", action: "write" } as const;

/** What the next step reads as `resume`: an empty object when there is none. */
const Payload = z.unknown().prefault({});

const ApproverQuery = z.object({ approver: z.string().optional() });

const getJobSignature = operation({
  name: "createJobSignature",
  method: "GET",
  path: `${base}/job_signature/{job_id}/{resume_id}`,
  access: "member",
  scope: write,
  summary: "Sign the approval of a step, for links to it",
  query: ApproverQuery,
  responds: responds.text("the signature, in hex"),
  run: (ctx, { workspace, query, ...input }) => signFor(ctx, workspace, requestOf(input, query)),
});

const getResumeUrls = operation({
  name: "getResumeUrls",
  method: "GET",
  path: `${base}/resume_urls/{job_id}/{resume_id}`,
  access: "member",
  scope: write,
  summary: "Make the links that approve or refuse what a step asks for",
  query: ApproverQuery,
  responds: responds.json(
    z.object({ approvalPage: z.string(), resume: z.string(), cancel: z.string() }),
    "the page for a person, and the links for programs",
  ),
  run: async (ctx, { workspace, query, ...input }) => {
    const request = requestOf(input, query);
    const { job_id, resume_id, approver } = request;
    const tail = `${job_id}/${resume_id}/${await signFor(ctx, workspace, request)}`;
    const search = approver ? `?approver=${encodeURIComponent(approver)}` : "";
    const at = ctx.app.urls.base;
    return {
      approvalPage: `${at}/approve/${workspace}/${tail}${search}`,
      resume: `${at}/api/w/${workspace}/jobs_u/resume/${tail}${search}`,
      cancel: `${at}/api/w/${workspace}/jobs_u/cancel/${tail}${search}`,
    };
  },
});

interface Link {
  workspace: string;
  job_id: string;
  resume_id: string;
  signature: string;
}

/** Answers by link. @throws Unauthorized for a wrong signature, and as `answer` */
async function answerLink(
  ctx: Context,
  { workspace, signature, ...input }: Link,
  query: { approver?: string | undefined },
  { approved, value }: { approved: boolean; value: unknown },
): Promise<string> {
  const request = requestOf(input, query);
  await checkSignature(ctx.app, workspace, request, signature);
  await answer(ctx, workspace, request, { approved, value });
  return "";
}

function byLink<const V extends "resume" | "cancel">(verb: V, approved: boolean) {
  const common = {
    path: `${open}/${verb}/${signed}`,
    access: "anyone",
    scope: write,
    cors: true,
    audit: approved ? RESUMES : REFUSES,
    responds: responds.created("nothing"),
  } as const;
  const what = approved ? "Approve" : "Refuse";
  return [
    operation({
      ...common,
      name: `${verb}SuspendedJobGet`,
      method: "GET",
      cookie: "ignored",
      summary: `${what} what a step asks for, by a signed link`,
      query: ApproverQuery.extend({ payload: z.string().optional() }),
      run: (ctx, { query, ...link }) => {
        const text = decodePayload(query.payload);
        const value: unknown = text === "" ? null : parseJson(text);
        return answerLink(ctx, link as unknown as Link, query, { approved, value });
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
        answerLink(ctx, link as unknown as Link, query, { approved, value: body }),
    }),
  ];
}

const getSuspendedJobFlow = operation({
  name: "getSuspendedJobFlow",
  method: "GET",
  path: `${open}/get_flow/${signed}`,
  access: "anyone",
  scope: read,
  cors: true,
  summary: "Read the flow that a signed link is about, and who has approved so far",
  query: ApproverQuery,
  responds: responds.json(
    z.object({
      job: JobRecord,
      approvers: z.array(z.object({ resume_id: z.number(), approver: z.string() })),
    }),
  ),
  run: async (ctx, { workspace, signature, query, ...input }) => {
    const request = requestOf(input, query);
    await checkSignature(ctx.app, workspace, request, signature);
    const asked = await askedBy(ctx.app, workspace, request.job_id);
    requireMaySee(ctx.caller, asked);
    const { job } = asked.flow;
    return {
      job: toldTo(ctx.caller, { ...toRecord(job), ...(await flowFacts(ctx.app, job)) }),
      approvers: await approversOf(ctx.app, request.job_id),
    };
  },
});

const resumeSuspendedFlowAsOwner = operation({
  name: "resumeSuspendedFlowAsOwner",
  method: "POST",
  path: `${base}/flow/resume/{flow_job_id}`,
  access: "member",
  scope: false,
  summary: "Approve what a flow waits for, as an owner of its path; the body is what the next step reads",
  body: Payload,
  audit: RESUMES,
  responds: responds.created("nothing"),
  run: async (ctx, { flow_job_id, body }) => {
    await approveAsOwner(ctx, flow_job_id, body);
    return "";
  },
});

/** @throws NotFound for what is no flow's job */
async function stateOf(ctx: Context, workspace: string, flow_job_id: string, key: string) {
  const job = await getJob(ctx, workspace, flow_job_id);
  if (!isFrame(job.kind)) throw new NotFound(`job ${job.id} is no flow: it is a ${job.kind}`);
  return { job_id: job.id, key };
}

const getFlowUserState = operation({
  name: "getFlowUserState",
  method: "GET",
  path: `${base}/flow/user_states/{flow_job_id}/{key}`,
  access: "member",
  scope: read,
  summary: "Read a value that scripts of a flow keep under a key; null when there is none",
  responds: responds.json(z.unknown(), "the value"),
  run: async (ctx, { workspace, flow_job_id, key }) => {
    const { job_id } = await stateOf(ctx, workspace, flow_job_id, key);
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
  summary: "Keep a value under a key, for the other scripts of a flow",
  body: z.unknown(),
  responds: responds.text("what was kept"),
  run: async (ctx, { workspace, flow_job_id, key, body }) => {
    const place = await stateOf(ctx, workspace, flow_job_id, key);
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
  ...byLink("resume", true),
  ...byLink("cancel", false),
  getSuspendedJobFlow,
  resumeSuspendedFlowAsOwner,
  getFlowUserState,
  setFlowUserState,
];
