/** Drafts stored on the server. */
import { call } from "../../api/call.ts";
import { ApiError } from "../../api/errors.ts";

/** Deletes a draft. It is not an error if it no longer exists, for example because of a deployment. */
export async function discardDraft(workspace: string, kind: "flow" | "script", path: string): Promise<void> {
  try {
    await call("DELETE /w/{workspace}/drafts/delete/{kind}/{path}", { workspace, kind, path });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
}
