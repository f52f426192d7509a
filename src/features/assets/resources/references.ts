/** Whose rights references are followed with: the caller's, or the server's own. */

import { BadRequest, NotFound } from "../../../lib/errors.ts";
import type { InWorkspace, WorkspaceContext } from "../../../platform/app/context.ts";
import { checkScopes } from "../../tenancy/tokens/scopes.ts";
import { interpolate, type References } from "../interpolate.ts";
import { readValueForServer } from "../variables/server-value.ts";
import { getVariable, readValue } from "../variables/service.ts";
import { findResource, getResource } from "./service.ts";

const NOTHING = () => undefined;

/**
 * The value of a resource with all references replaced, read with the caller's rights: each secret on the way leaves
 * the audit row of a secret that was read.
 * @param contextual facts about a job, for `$WM_…`
 * @throws NotFound when the caller may not read the resource, BadRequest for a reference that leads nowhere
 */
export async function valueForCaller(
  ctx: WorkspaceContext,
  path: string,
  contextual: References["contextual"] = NOTHING,
): Promise<unknown> {
  const resource = async (at: string) => {
    checkScopes(ctx.caller.identity, { domain: "resources", action: "read" }, at);
    return (await getResource(ctx, at)).value;
  };
  const references: References = {
    resource,
    contextual,
    variable: async (at) => {
      checkScopes(ctx.caller.identity, { domain: "variables", action: "read" }, at);
      return readValue(ctx, await getVariable(ctx, at));
    },
  };
  return interpolate(await resource(path), references, path);
}

/**
 * The same for the server's own use, whoever asks: the value is not told to the caller. References must stay with the
 * resource's owner (`u/ann`, `f/data`): whoever may write one resource could else have the server open everybody's
 * secrets and send them wherever the resource says.
 * @throws NotFound, BadRequest for a reference that leads nowhere or away from the owner
 */
export async function resourceForServer(ctx: InWorkspace, path: string): Promise<unknown> {
  const owner = ownerOf(path);
  const within = (at: string) => {
    if (ownerOf(at) === owner) return at;
    throw new BadRequest(
      `resource ${path} is opened by the server for everybody, so it may refer to what is below ${owner}/ alone, not to ${at}`,
    );
  };
  const resource = async (at: string) => {
    const row = await findResource(ctx, ctx.app.db.read, within(at));
    if (!row) throw new NotFound(`resource ${at} in workspace ${ctx.caller.member.workspace_id}`);
    return row.value;
  };
  const references: References = {
    resource,
    contextual: NOTHING,
    variable: async (at) => {
      const { workspace_id } = ctx.caller.member;
      const value = await readValueForServer(ctx.app, workspace_id, within(at));
      if (value === undefined) throw new NotFound(`variable ${at} in workspace ${workspace_id}`);
      return value;
    },
  };
  return interpolate(await resource(path), references, path);
}

/** `u/ann/db/main` → `u/ann` */
function ownerOf(path: string): string {
  return path.split("/", 2).join("/");
}
