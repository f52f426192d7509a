/** Checks the scripts, flows and resources that a setting refers to. */
import { BadRequest } from "../../../lib/errors.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import { parseRunnablePath } from "../../../lib/text/runnable-path.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { findResource } from "../../assets/resources/service.ts";
import { findLatestFlow as findFlow } from "../../code/flows/versions.ts";
import { findLiveScript as findScript } from "../../code/scripts/versions.ts";

/**
 * Validates a reference to a script or flow: `script/<path>` or `flow/<path>`. It may be deployed later: clients that
 * move a workspace save its settings first. Of hub paths only the form is checked.
 * @returns what to add to the confirmation: that it does not exist yet, or nothing
 * @throws BadRequest saying which field, and what would be right
 */
export async function describeMissingRunnable(
  app: App,
  workspace_id: string,
  field: string,
  given: string,
): Promise<string> {
  const target = parseRunnablePath(given);
  if (!target) {
    throw new BadRequest(
      `body field \`${field}\`: must be script/<path> or flow/<path>, such as script/f/ops/alert`,
    );
  }
  const path = "flow" in target ? target.flow : target.path;
  if (/^hub\/[\w/-]+$/.test(path)) return "; scripts of the hub are not offered";
  if (!("flow" in target)) return describeMissingScript(app, workspace_id, field, path);
  const found = await findFlow(app.db.read, workspace_id, parsePathField(field, path));
  return !found || found.flow.archived ? describeMissing("flow", path) : "";
}

/** Validates the path of a script. @returns and @throws as `describeMissingRunnable` */
export async function describeMissingScript(
  app: App,
  workspace_id: string,
  field: string,
  given: string,
): Promise<string> {
  const path = parsePathField(field, given);
  return (await findScript(app.db.read, workspace_id, path)) ? "" : describeMissing("script", path);
}

/** Returns an addition to the confirmation of a setting that names what does not exist yet. */
export const describeMissing = (kind: string, path: string): string => `; there is no ${kind} ${path} yet`;

/** Validates a path from a body field. @throws BadRequest that names the field */
export function parsePathField(field: string, given: string): string {
  try {
    return parsePath(given);
  } catch (cause) {
    throw cause instanceof BadRequest ? new BadRequest(`body field \`${field}\`: ${cause.message}`) : cause;
  }
}

/**
 * Checks that a resource exists and that the caller may read it.
 * @throws BadRequest when there is no such resource that the caller may read
 */
export async function requireResource(ctx: WorkspaceContext, field: string, given: string): Promise<void> {
  const path = parsePathField(field, given.replace(/^\$res:/, ""));
  if (await findResource(ctx, ctx.app.db.read, path)) return;
  const { workspace_id } = ctx.caller.member;
  throw new BadRequest(`body field \`${field}\`: there is no resource ${path} in workspace ${workspace_id}`);
}
