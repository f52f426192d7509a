/** Checks that the scripts, flows and resources that a setting names are there. */
import { BadRequest } from "../../../lib/errors.ts";
import { checkPath } from "../../../lib/text/paths.ts";
import { targetOfHandler } from "../../../lib/text/runnable-path.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { findResource } from "../../assets/resources/service.ts";
import { findLatest as findFlow } from "../../code/flows/versions.ts";
import { findLive as findScript } from "../../code/scripts/versions.ts";

/**
 * Checks what names a script or a flow of the workspace: `script/<path>`, `flow/<path>`. Those of the hub are no part of
 * the workspace, so only their form is looked at.
 * @throws BadRequest saying which field, and what would be right
 */
export async function checkRunnable(
  app: App,
  workspace_id: string,
  field: string,
  given: string,
): Promise<void> {
  const target = targetOfHandler(given);
  if (!target) {
    throw new BadRequest(
      `body field \`${field}\`: must be script/<path> or flow/<path>, such as script/f/ops/alert`,
    );
  }
  const path = "flow" in target ? target.flow : target.path;
  if (/^hub\/[\w/-]+$/.test(path)) return;
  if (!("flow" in target)) return requireScript(app, workspace_id, field, path);
  const found = await findFlow(app.db.read, workspace_id, pathIn(field, path));
  if (!found || found.flow.archived) {
    throw new BadRequest(`body field \`${field}\`: there is no flow ${path} in workspace ${workspace_id}`);
  }
}

/** @throws BadRequest when there is no such script in the workspace */
export async function requireScript(
  app: App,
  workspace_id: string,
  field: string,
  given: string,
): Promise<void> {
  const path = pathIn(field, given);
  if (await findScript(app.db.read, workspace_id, path)) return;
  throw new BadRequest(`body field \`${field}\`: there is no script ${path} in workspace ${workspace_id}`);
}

/** @throws BadRequest that names the field, for what has no form of a path */
export function pathIn(field: string, given: string): string {
  try {
    return checkPath(given);
  } catch (cause) {
    throw cause instanceof BadRequest ? new BadRequest(`body field \`${field}\`: ${cause.message}`) : cause;
  }
}

/** @throws BadRequest when there is no such resource that the caller may read */
export async function requireResource(ctx: WorkspaceContext, field: string, given: string): Promise<void> {
  const path = pathIn(field, given.replace(/^\$res:/, ""));
  if (await findResource(ctx, ctx.app.db.read, path)) return;
  const { workspace_id } = ctx.caller.member;
  throw new BadRequest(`body field \`${field}\`: there is no resource ${path} in workspace ${workspace_id}`);
}
