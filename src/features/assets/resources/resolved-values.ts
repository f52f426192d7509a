/** Reads resources with references resolved: with the caller's rights, or for the server's own use. */

import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { canRead, type Permissions } from "../../../platform/access/permissions.ts";
import type { Member, WorkspaceContext, WorkspaceScope } from "../../../platform/app/context.ts";
import { findGranteeMember } from "../../tenancy/people/members.ts";
import { requireScope } from "../../tenancy/tokens/scopes.ts";
import { interpolateResource, type ReferenceResolver } from "../interpolate.ts";
import { readVariableForServer } from "../variables/server-value.ts";
import { getVariable, readVariableValue } from "../variables/service.ts";
import { findResource, getResource } from "./service.ts";

const noContext = () => undefined;

/**
 * Returns the value of a resource with references resolved, using the caller's rights. Every secret read leaves an
 * audit row.
 * @param contextual facts about a job, for `$WM_…`
 * @throws NotFound if the caller may not read the resource, BadRequest for a dangling reference
 */
export async function readResourceForCaller(
  ctx: WorkspaceContext,
  path: string,
  contextual: ReferenceResolver["contextual"] = noContext,
): Promise<unknown> {
  const resource = async (at: string) => {
    requireScope(ctx.caller.identity, { domain: "resources", action: "read" }, at);
    return (await getResource(ctx, at)).value;
  };
  const references: ReferenceResolver = {
    resource,
    contextual,
    variable: async (at) => {
      requireScope(ctx.caller.identity, { domain: "variables", action: "read" }, at);
      return readVariableValue(ctx, await getVariable(ctx, at));
    },
  };
  return interpolateResource(await resource(path), references, path);
}

/**
 * Returns the resolved value for the server's own use; it is never shown to the caller, whose rights do not matter.
 * References must stay below the resource's owner (`u/ann`, `f/data`), and whoever may change the resource by a grant
 * of its own must be able to read what it refers to. Otherwise anybody who can write one resource could make the server
 * read all secrets and send them elsewhere.
 * @throws NotFound, BadRequest for a dangling reference, or one that leaves the owner or the rights of a writer
 */
export async function readResourceForServer(ctx: WorkspaceScope, path: string): Promise<unknown> {
  const owner = ownerPrefix(path);
  const writers: Member[] = [];
  const refuse = (rule: string, at: string) =>
    new BadRequest(
      `resource ${path} is used by the server for everybody, so it may only refer to ${rule}, not to ${at}`,
    );
  const within = (at: string) => {
    if (ownerPrefix(at) === owner) return at;
    throw refuse(`items below ${owner}/`, at);
  };
  const check = (item: { path: string; extra_perms: Permissions }) => {
    if (writers.every((writer) => canRead(writer, item.path, item.extra_perms))) return;
    throw refuse("what all who may change it may read", item.path);
  };
  const resource = async (at: string) => {
    const row = await findResource(ctx, ctx.app.db.read, within(at));
    if (!row) throw new NotFound(`resource ${at} in workspace ${ctx.caller.member.workspace_id}`);
    check(row);
    writers.push(...(await listGrantedWriters(ctx, row.extra_perms)));
    return row.value;
  };
  const references: ReferenceResolver = {
    resource,
    contextual: noContext,
    variable: async (at) => {
      const { workspace_id } = ctx.caller.member;
      const value = await readVariableForServer(ctx.app, workspace_id, within(at), check);
      if (value === undefined) throw new NotFound(`variable ${at} in workspace ${workspace_id}`);
      return value;
    },
  };
  return interpolateResource(await resource(path), references, path);
}

/** Lists the members, and groups as members, that an item's own grants let write it. */
async function listGrantedWriters(ctx: WorkspaceScope, grants: Permissions): Promise<Member[]> {
  const { app } = ctx;
  const { workspace_id } = ctx.caller.member;
  const writers: Member[] = [];
  for (const grantee of Object.keys(grants).filter((name) => grants[name])) {
    const member = await findGranteeMember(app, workspace_id, grantee);
    if (member && !member.operator) writers.push(member);
  }
  return writers;
}

/** Returns the first two parts of a path: `u/ann/db/main` → `u/ann`. */
function ownerPrefix(path: string): string {
  return path.split("/", 2).join("/");
}
