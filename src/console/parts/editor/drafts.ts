/** Drafts that the server keeps beside what is deployed. */
import { call } from "../../api/call.ts";
import { ApiError } from "../../api/errors.ts";

/** Deletes a draft. One that is gone already, such as by a deployment, is no error. */
export async function discardDraft(workspace: string, kind: "flow" | "script", path: string): Promise<void> {
  try {
    await call("DELETE /w/{workspace}/drafts/delete/{kind}/{path}", { workspace, kind, path });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
}
