/** Reads and changes the acl of items, folders and groups, one grant at a time. */

import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { canRead, type Permissions, requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import type { ItemKind } from "../../../platform/app/item-kind.ts";
import { createAuditParameters, parseGrantee, withGrant } from "../../tenancy/rights/grants.ts";
import { findAcl, listItemKinds, storeAcl } from "../../tenancy/rights/item-kinds.ts";
import * as folders from "../folders/folders.ts";
import * as groups from "../groups/groups.ts";

/** Access to the acl of one kind. Both methods check the caller's rights. */
interface AclAccess {
  get(ctx: WorkspaceContext, path: string): Promise<Permissions>;
  /** Stores or removes the grant of one owner. @param write undefined removes the grant */
  set(ctx: WorkspaceContext, path: string, owner: string, write: boolean | undefined): Promise<void>;
}

const NON_ITEM_ACLS: Record<string, AclAccess> = {
  folder: {
    get: async (ctx, name) => (await folders.getFolder(ctx, name)).extra_perms,
    set: folders.setFolderGrant,
  },
  group_: {
    get: async (ctx, name) => (await groups.getGroup(ctx, name)).extra_perms,
    set: groups.setGroupManager,
  },
};

/** Returns the acl access of an item kind: users who may write an item may change its acl. */
function createItemAcl(items: ItemKind): AclAccess {
  const { kind } = items;
  const readable = (ctx: WorkspaceContext, path: string, entries: Permissions | undefined): Permissions => {
    const { member } = ctx.caller;
    if (entries && canRead(member, path, entries)) return entries;
    throw new NotFound(`${kind} ${path} in workspace ${member.workspace_id}`);
  };
  return {
    async get(ctx, path) {
      const { workspace_id } = ctx.caller.member;
      return readable(ctx, path, await findAcl(ctx.app.db.read, items, workspace_id, path));
    },
    async set(ctx, path, owner, write) {
      const { app, caller } = ctx;
      const { workspace_id } = caller.member;
      await ctx.write(
        { resource: path, parameters: createAuditParameters(kind, owner, write) },
        async (tx) => {
          // The same lock that deployments and renames of the item take.
          await tx.lock(`${kind} ${workspace_id} ${path}`);
          const entries = readable(ctx, path, await findAcl(tx, items, workspace_id, path));
          requireWriteAccess(caller.member, path, entries);
          const of = `${kind} ${path}`;
          const changed = await withGrant(tx, { workspace_id, of, entries }, owner, write);
          await storeAcl(app, tx, { kind: items, workspace_id, path }, changed);
        },
      );
    },
  };
}

/** Finds how the grants of a kind of items are read and changed. @throws BadRequest for an unknown kind */
function getAclAccess(app: App, kind: string): AclAccess {
  const other = Object.hasOwn(NON_ITEM_ACLS, kind) ? NON_ITEM_ACLS[kind] : undefined;
  if (other) return other;
  const items = listItemKinds(app);
  const found = items.get(kind);
  if (found) return createItemAcl(found);
  const known = [...items.keys(), ...Object.keys(NON_ITEM_ACLS)].join(", ");
  throw new BadRequest(`"${kind.slice(0, 60)}" is not a kind of item with rights: use one of ${known}`);
}

/**
 * Returns the grants of an item, folder or group.
 * @throws NotFound, also if the caller may not read the item; BadRequest for an unknown kind
 */
export function getAcl(ctx: WorkspaceContext, kind: string, path: string): Promise<Permissions> {
  return getAclAccess(ctx.app, kind).get(ctx, path);
}

/** Grants a user or group a right on an item. @throws as `getAcl`, and Forbidden; BadRequest for an unknown grantee */
export async function addGrant(
  ctx: WorkspaceContext,
  { kind, path }: { kind: string; path: string },
  owner: string,
  write: boolean,
): Promise<void> {
  await getAclAccess(ctx.app, kind).set(ctx, path, parseGrantee("owner", owner), write);
}

/**
 * Removes the grant of a user or group on an item.
 * @throws as `getAcl`, and Forbidden; BadRequest if there is no such grant
 */
export async function removeGrant(
  ctx: WorkspaceContext,
  { kind, path }: { kind: string; path: string },
  owner: string,
): Promise<void> {
  await getAclAccess(ctx.app, kind).set(ctx, path, owner, undefined);
}
