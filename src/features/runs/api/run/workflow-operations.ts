/** Workflows as code: a running job runs functions of its own code as separate jobs. */
import type { Language } from "../../../../engines/languages/types.ts";
import { BadRequest, Forbidden } from "../../../../lib/errors.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import {
  aliasOperation,
  type Operation,
  operation,
  optionalBody,
  queryBoolean,
  responds,
} from "../../../../platform/http/operation.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { getDeployedScriptByHash } from "../../../code/scripts/versions.ts";
import { escapeComputedReferences } from "../../arguments/computed-references.ts";
import { addEntrypointArgument, getFunctionSignature } from "../../job/entrypoints.ts";
import { getJob } from "../../submit/find-and-cancel.ts";
import type { Submission } from "../../submit/submission.ts";
import { submitJob } from "../../submit/submit.ts";
import { AsyncQuery } from "./run-operations.ts";

const Task = z.object({ args: z.record(z.string(), z.unknown()).default({}) });

/**
 * Checks that the parent's code exports a function.
 * @returns the code
 * @throws BadRequest if the parent's code exports no such function
 */
async function requireFunction(ctx: WorkspaceContext, job: Job, entrypoint: string): Promise<string> {
  const content = job.script_hash
    ? (await getDeployedScriptByHash(ctx.app, job.workspace_id, job.script_hash)).version.content
    : (job.raw_code ?? "");
  await getFunctionSignature(
    { language: job.language as Language, content },
    entrypoint,
    { owner: job.workspace_id, for_request: true },
    `the script of job ${job.id}`,
  );
  return content;
}

/** Makes literals of the arguments that look like references, unless the code builds some: they are data. */
async function escapeTaskArguments(
  { app }: WorkspaceContext,
  parent: Job,
  source: string,
  args: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const escaped = await escapeComputedReferences(app, parent, args, {
    source,
    given: () => [],
    data: () => [],
  });
  return escaped as Record<string, unknown>;
}

function createTaskSubmission(parent: Job, entrypoint: string, args: Record<string, unknown>): Submission {
  return {
    kind: parent.kind,
    script_path: parent.script_path ?? undefined,
    script_hash: parent.script_hash ?? undefined,
    language: parent.language ?? undefined,
    tag: parent.tag,
    priority: parent.priority,
    timeout_s: parent.timeout_s ?? undefined,
    raw_code: parent.raw_code ?? undefined,
    raw_lock: parent.raw_lock ?? undefined,
    raw_modules: parent.raw_modules ?? undefined,
    args: addEntrypointArgument(args, entrypoint),
    entrypoint,
    visible_to_owner: parent.visible_to_owner,
  };
}

const runWorkflowTask = operation({
  name: "runWorkflowAsCodeTask",
  method: "POST",
  path: "/w/{workspace}/jobs/run/workflow_as_code/{job_id}/{entrypoint}",
  access: "member",
  scope: { domain: "jobs", action: "run" },
  summary: "Run an exported function of the calling job's own code as a child job",
  query: AsyncQuery.extend({ skip_update: queryBoolean.optional() }),
  body: optionalBody(Task),
  responds: responds.created("uuid of the job"),
  audit: { operation: "jobs.run.workflow_as_code", action_kind: "Execute" },
  run: async (ctx, { workspace, job_id, entrypoint, body, query }) => {
    const parent = await getJob(ctx, workspace, job_id);
    if (ctx.caller.identity.token?.job?.id !== parent.id) {
      throw new Forbidden(
        `only job ${parent.id} itself may have functions of its code run, by its own token`,
      );
    }
    if (parent.kind !== "script" && parent.kind !== "preview") {
      throw new BadRequest(`job ${parent.id} is of kind ${parent.kind}: only scripts have functions to run`);
    }
    const code = await requireFunction(ctx, parent, entrypoint);
    const args = await escapeTaskArguments(ctx, parent, code, body.args);
    const below = { parent_job: parent.id, root_job: parent.root_job ?? parent.id };
    const submission = createTaskSubmission(parent, entrypoint, args);
    const { tag, timeout } = query;
    const own = {
      tag: tag || submission.tag,
      is_tag_inherited: !tag,
      timeout_s: timeout ?? submission.timeout_s,
    };
    return (await submitJob(ctx, { ...submission, ...own }, { ...query, ...below })).id;
  },
});

export const workflowOperations: Operation[] = [
  runWorkflowTask,
  aliasOperation(runWorkflowTask, {
    name: "runWorkflowAsCode",
    path: "/w/{workspace}/jobs/workflow_as_code/{job_id}/{entrypoint}",
  }),
];
