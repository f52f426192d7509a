/** Cluster-wide retirement of script processes and removal of version files. */
import type { App } from "../app/context.ts";
import { defineInvalidation } from "./cache-invalidation.ts";

const ANY = "";

/**
 * A missed message is harmless: an unused process ends after its idle time, since no job needs its version any more.
 */
const retireOnAllServers = defineInvalidation<[workspace_id: string, version_id: string, email: string]>(
  "children",
  {
    forget(app, workspace_id, version_id, email) {
      app.runner.retire({
        ...(workspace_id !== ANY && { workspace_id }),
        ...(version_id !== ANY && { version_id }),
        ...(email !== ANY && { email }),
      });
    },
    forgetAll() {},
  },
);

/**
 * Retires the idle processes of a version (archived or deleted), a workspace or a user. Busy ones end after their
 * current job. Call it after the commit.
 */
export function retireProcesses(
  app: App,
  { workspace_id = ANY, version_id = ANY, email = ANY }: Parameters<App["runner"]["retire"]>[0],
): void {
  retireOnAllServers(app, workspace_id, version_id, email);
}

/**
 * Removes the files of a workspace that was deleted or renamed, on every server. The pruner removes files after missed
 * messages.
 */
export const removeVersionFiles = defineInvalidation<[workspace_id: string]>("files", {
  forget(app, workspace_id) {
    app.runner
      .removeWorkspaceFiles(workspace_id)
      .catch((cause) =>
        app.log.warn(
          { error: String(cause) },
          "files of a deleted or renamed workspace could not be removed",
        ),
      );
  },
  forgetAll() {},
});
