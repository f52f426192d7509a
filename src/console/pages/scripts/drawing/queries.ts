/** Reads flows for the editor, and writes what was drawn. */
import { queryOptions } from "@tanstack/react-query";
import { type Answer, call, type Input } from "../../../api/call.ts";
import type { FlowDocument } from "./model/document.ts";

export type FoundFlow = Answer<"GET /w/{workspace}/flows/get/draft/{path}">;
type NewFlow = Input<"POST /w/{workspace}/flows/create">["body"];

/** What is kept until it is deployed. */
export interface Draft extends FlowDocument {
  /** The version it was begun from; missing for a new flow. */
  parent_version?: number;
}

/**
 * The newest version of a flow with one's draft of it; null where there is none.
 * @param draft_of whose draft; undefined: one's own
 */
export const flowWithDraft = (workspace: string, path: string, draft_of?: string) =>
  queryOptions({
    queryKey: [workspace, "flows", "draft", path, draft_of],
    queryFn: async ({ signal }): Promise<FoundFlow | null> => {
      if (!(await call("GET /w/{workspace}/flows/exists/{path}", { workspace, path }, signal))) return null;
      const query = draft_of === undefined ? {} : { draft_of };
      return call("GET /w/{workspace}/flows/get/draft/{path}", { workspace, path, query }, signal);
    },
    // What is drawn must not change under the person who draws.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

export const keepDraft = (workspace: string, path: string, draft: Draft) =>
  call("POST /w/{workspace}/drafts/create", { workspace, body: { path, typ: "flow", value: draft } });

interface Deployment {
  /** Undefined for a new flow. */
  parent: number | undefined;
  message: string;
}

/** Deploys a flow. @throws ApiError when somebody deployed in between */
export async function deployFlow(
  workspace: string,
  flow: FlowDocument,
  { parent, message }: Deployment,
): Promise<void> {
  const body = { ...flow, ...(message ? { deployment_message: message } : {}) } as unknown as NewFlow;
  if (parent === undefined) await call("POST /w/{workspace}/flows/create", { workspace, body });
  else {
    await call("POST /w/{workspace}/flows/update/{path}", {
      workspace,
      path: flow.path,
      body: { ...body, parent_version: parent },
    });
  }
}
