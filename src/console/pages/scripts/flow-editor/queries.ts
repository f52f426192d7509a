/** Loads flows for the editor, and deploys them. */
import { queryOptions } from "@tanstack/react-query";
import { type Answer, callOperation, type Input } from "../../../api/call.ts";
import type { Job } from "../../../api/interface.d.ts";
import { isRecord } from "../../../api/json.ts";
import { awaitSaves } from "../../../parts/editor/drafts.ts";
import { isLeftOut } from "../../../parts/runs/result/whole-value.ts";
import type { FlowDocument } from "./model/document.ts";

export type FoundFlow = Answer<"GET /w/{workspace}/flows/get/draft/{path}">;
type NewFlow = Input<"POST /w/{workspace}/flows/create">["body"];

/** Content of a draft. */
export interface Draft extends FlowDocument {
  /** The version that it is based on; absent for a new flow. */
  parent_version?: number;
}

/**
 * Loads the newest version of a flow with a user's draft; null if there is none.
 * @param draft_of the draft's user; undefined: the current one
 */
export const flowWithDraftQuery = (workspace: string, path: string, draft_of?: string) =>
  queryOptions({
    queryKey: [workspace, "flows", "draft", path, draft_of],
    queryFn: async ({ signal }): Promise<FoundFlow | null> => {
      if (draft_of === undefined) await awaitSaves({ workspace, kind: "flow", path });
      if (!(await callOperation("GET /w/{workspace}/flows/exists/{path}", { workspace, path }, signal)))
        return null;
      const query = draft_of === undefined ? {} : { draft_of };
      return callOperation("GET /w/{workspace}/flows/get/draft/{path}", { workspace, path, query }, signal);
    },
    // The content of the editor must not change while the user edits.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

/** Stores a new flow, which is a draft until it is deployed, so that its path is taken and others can review it. */
export async function createDraftFlow(workspace: string, flow: FlowDocument): Promise<void> {
  const body = { ...flow, draft_only: true } as unknown as NewFlow;
  await callOperation("POST /w/{workspace}/flows/create", { workspace, body });
}

/** Restarts an earlier run from a step, with the edited flow. @returns the new run's id */
export async function restartFromStep(
  workspace: string,
  flow: FlowDocument,
  { job, step }: { job: Job; step: string },
): Promise<string> {
  const args: unknown = isLeftOut(job, "args")
    ? await callOperation("GET /w/{workspace}/jobs_u/get_args/{id}", { workspace, id: job.id })
    : job.args;
  const id = await callOperation("POST /w/{workspace}/jobs/run/preview_flow", {
    workspace,
    body: {
      value: flow.value as { modules: unknown[] },
      args: isRecord(args) ? args : {},
      path: flow.path,
      restarted_from: { flow_job_id: job.id, step_id: step },
    },
  });
  return id.trim();
}

interface Deployment {
  /** Undefined for a new flow. */
  parent: number | undefined;
  message: string;
}

/** Deploys a flow. @throws ApiError if another user has deployed in between */
export async function deployFlow(
  workspace: string,
  flow: FlowDocument,
  { parent, message }: Deployment,
): Promise<void> {
  const body = { ...flow, ...(message ? { deployment_message: message } : {}) } as unknown as NewFlow;
  if (parent === undefined) await callOperation("POST /w/{workspace}/flows/create", { workspace, body });
  else {
    await callOperation("POST /w/{workspace}/flows/update/{path}", {
      workspace,
      path: flow.path,
      body: { ...body, parent_version: parent },
    });
  }
}
