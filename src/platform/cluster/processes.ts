/** Script processes that must run nothing more, and files of theirs: on every machine. */
import type { App } from "../app/context.ts";
import { forgottenEverywhere } from "./cache-invalidation.ts";

const NONE = "";

/** What nobody was told of ends when it has been idle for long: nothing that it could run is run any more. */
const retireAll = forgottenEverywhere<[workspace_id: string, version_id: string, email: string]>("children", {
  forget(app, workspace_id, version_id, email) {
    app.runner.retire({
      ...(workspace_id !== NONE && { workspace_id }),
      ...(version_id !== NONE && { version_id }),
      ...(email !== NONE && { email }),
    });
  },
  forgetAll() {},
});

/**
 * Ends the idle children of a version (archived, deleted), of a workspace or of a person; those that run a job take no
 * other. Called after the commit.
 */
export function retireChildren(
  app: App,
  { workspace_id = NONE, version_id = NONE, email = NONE }: Parameters<App["runner"]["retire"]>[0],
): void {
  retireAll(app, workspace_id, version_id, email);
}

/** Removes the files of a workspace that is gone, or has another id. What nobody was told of, the pruner removes. */
export const forgetFiles = forgottenEverywhere<[workspace_id: string]>("files", {
  forget(app, workspace_id) {
    app.runner
      .forget(workspace_id)
      .catch((cause) =>
        app.log.warn({ error: String(cause) }, "files of a workspace that is gone could not be removed"),
      );
  },
  forgetAll() {},
});
