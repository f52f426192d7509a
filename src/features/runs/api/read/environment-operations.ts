/** Operations that return contextual variables of jobs, and resolve references to them. */
import * as z from "../../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { readToken } from "../../../../platform/http/guards/credentials.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { readResourceForCaller } from "../../../assets/resources/resolved-values.ts";
import { SECRET_READ_AUDIT } from "../../../tenancy/workspaces/secrets.ts";
import { findFlowPlace } from "../../flows/status/flow-place.ts";
import { createJobEnvironment } from "../../job/environment.ts";
import { getJob } from "../../submit/find-and-cancel.ts";
import { describeContextualVariables } from "./contextual-variables.ts";

const ContextualVariable = z.object({
  name: z.string(),
  value: z.string(),
  description: z.string(),
  is_custom: z.boolean(),
});

export const listContextualVariables = operation({
  name: "listContextualVariables",
  method: "GET",
  path: "/w/{workspace}/variables/list_contextual",
  access: "member",
  summary: "List the contextual variables of jobs, with the values that a job of the caller would get",
  responds: responds.json(z.array(ContextualVariable)),
  run: async (ctx) => describeContextualVariables(ctx),
});

export const getResourceValueInterpolated = operation({
  name: "getResourceValueInterpolated",
  method: "GET",
  path: "/w/{workspace}/resources/get_value_interpolated/{path}",
  access: "member",
  summary: "Read the value of a resource with all references resolved",
  query: z.object({ job_id: z.uuid().optional() }),
  responds: responds.json(z.unknown()),
  audit: SECRET_READ_AUDIT,
  run: async (ctx, { path, query, workspace }) => {
    const facts = query.job_id === undefined ? {} : await readJobFacts(ctx, workspace, query.job_id);
    return readResourceForCaller(ctx, path, (name) => (Object.hasOwn(facts, name) ? facts[name] : undefined));
  },
});

/**
 * Returns the values of `$WM_…` for a job the caller may see. `$WM_TOKEN` is the token of this call, which for a job is
 * its own.
 */
async function readJobFacts(
  ctx: WorkspaceContext,
  workspace: string,
  job_id: string,
): Promise<Record<string, string | undefined>> {
  const job = await getJob(ctx, workspace, job_id);
  const facts = createJobEnvironment(ctx.app, job, await findFlowPlace(ctx.app, job));
  return { ...facts, WM_TOKEN: readToken(ctx.request, new URL(ctx.request.url).search) };
}

export const environmentOperations: Operation[] = [listContextualVariables, getResourceValueInterpolated];
