/** Entries of items, folders and groups: reading, giving and taking rights one by one. */

import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { canRead, type Permissions, requireWrite } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import type { ItemKind } from "../../../platform/app/item-kind.ts";
import { auditParameters, checkName, withGrant } from "../../tenancy/rights/grants.ts";
import { aclOf, itemKindsOf, storeAcl } from "../../tenancy/rights/item-kinds.ts";
import * as folders from "../folders/folders.ts";
import * as groups from "../groups/groups.ts";

/** What has entries, and how they are read and changed. Each refuses who may not. */
interface Entries {
  get(ctx: WorkspaceContext, path: string): Promise<Permissions>;
  /** @param write undefined takes the entry away */
  set(ctx: WorkspaceContext, path: string, owner: string, write: boolean | undefined): Promise<void>;
}

const OTHERS: Record<string, Entries> = {
  folder: {
    get: async (ctx, name) => (await folders.getFolder(ctx, name)).extra_perms,
    set: folders.setEntry,
  },
  group_: {
    get: async (ctx, name) => (await groups.getGroup(ctx, name)).extra_perms,
    set: groups.setEntry,
  },
};

/** Who may write an item may say who else may. */
function itemEntries(items: ItemKind): Entries {
  const { kind } = items;
  const readable = (ctx: WorkspaceContext, path: string, entries: Permissions | undefined): Permissions => {
    const { member } = ctx.caller;
    if (entries && canRead(member, path, entries)) return entries;
    throw new NotFound(`${kind} ${path} in workspace ${member.workspace_id}`);
  };
  return {
    async get(ctx, path) {
      const { workspace_id } = ctx.caller.member;
      return readable(ctx, path, await aclOf(ctx.app.db.read, items, workspace_id, path));
    },
    async set(ctx, path, owner, write) {
      const { app, caller } = ctx;
      const { workspace_id } = caller.member;
      await ctx.write({ resource: path, parameters: auditParameters(kind, owner, write) }, async (tx) => {
        // The lock that its deployments and renames hold as well.
        await tx.lock(`${kind} ${workspace_id} ${path}`);
        const entries = readable(ctx, path, await aclOf(tx, items, workspace_id, path));
        requireWrite(caller.member, path, entries);
        const of = `${kind} ${path}`;
        const changed = await withGrant(tx, { workspace_id, of, entries }, owner, write);
        await storeAcl(app, tx, { kind: items, workspace_id, path }, changed);
      });
    },
  };
}

/** @throws BadRequest for a kind that has no entries */
function entriesOfKind(app: App, kind: string): Entries {
  const other = Object.hasOwn(OTHERS, kind) ? OTHERS[kind] : undefined;
  if (other) return other;
  const items = itemKindsOf(app);
  const found = items.get(kind);
  if (found) return itemEntries(found);
  const known = [...items.keys(), ...Object.keys(OTHERS)].join(", ");
  throw new BadRequest(`"${kind.slice(0, 60)}" is not a kind that rights are given to: use one of ${known}`);
}

/** @throws NotFound, also when the caller may not read it; BadRequest for an unknown kind */
export function getEntries(ctx: WorkspaceContext, kind: string, path: string): Promise<Permissions> {
  return entriesOfKind(ctx.app, kind).get(ctx, path);
}

/** @throws as `getEntries`, and Forbidden; BadRequest for who is unknown */
export async function addEntry(
  ctx: WorkspaceContext,
  { kind, path }: { kind: string; path: string },
  owner: string,
  write: boolean,
): Promise<void> {
  await entriesOfKind(ctx.app, kind).set(ctx, path, checkName("owner", owner), write);
}

/** @throws as `getEntries`, and Forbidden; BadRequest for who has none */
export async function removeEntry(
  ctx: WorkspaceContext,
  { kind, path }: { kind: string; path: string },
  owner: string,
): Promise<void> {
  await entriesOfKind(ctx.app, kind).set(ctx, path, owner, undefined);
}
