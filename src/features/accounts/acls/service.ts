/** Entries of items, folders and groups: reading, giving and taking rights one by one. */

import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { canRead, type Permissions, requireWrite } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { checkName, toldOf, withEntry } from "../../tenancy/rights/grants.ts";
import { entriesOf, KINDS, storeEntries } from "../../tenancy/rights/item-kinds.ts";
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
function itemEntries(kind: string): Entries {
  const items = KINDS[kind]!;
  const readable = (ctx: WorkspaceContext, path: string, entries: Permissions | undefined): Permissions => {
    const { member } = ctx.caller;
    if (entries && canRead(member, path, entries)) return entries;
    throw new NotFound(`${kind} ${path} in workspace ${member.workspace_id}`);
  };
  return {
    async get(ctx, path) {
      const { workspace_id } = ctx.caller.member;
      return readable(ctx, path, await entriesOf(ctx.app.db.read, items, workspace_id, path));
    },
    async set(ctx, path, owner, write) {
      const { app, caller } = ctx;
      const { workspace_id } = caller.member;
      await ctx.write({ resource: path, parameters: toldOf(kind, owner, write) }, async (tx) => {
        // The lock that its deployments and renames hold as well.
        await tx.lock(`${kind} ${workspace_id} ${path}`);
        const entries = readable(ctx, path, await entriesOf(tx, items, workspace_id, path));
        requireWrite(caller.member, path, entries);
        const of = `${kind} ${path}`;
        const changed = await withEntry(tx, { workspace_id, of, entries }, owner, write);
        await storeEntries(app, tx, { kind: items, workspace_id, path }, changed);
      });
    },
  };
}

/** @throws BadRequest for a kind that has no entries */
function entriesOfKind(kind: string): Entries {
  const other = Object.hasOwn(OTHERS, kind) ? OTHERS[kind] : undefined;
  if (other) return other;
  if (Object.hasOwn(KINDS, kind)) return itemEntries(kind);
  const known = [...Object.keys(KINDS), ...Object.keys(OTHERS)].join(", ");
  throw new BadRequest(`"${kind.slice(0, 60)}" is not a kind that rights are given to: use one of ${known}`);
}

/** @throws NotFound, also when the caller may not read it; BadRequest for an unknown kind */
export function getEntries(ctx: WorkspaceContext, kind: string, path: string): Promise<Permissions> {
  return entriesOfKind(kind).get(ctx, path);
}

/** @throws as `getEntries`, and Forbidden; BadRequest for who is unknown */
export async function addEntry(
  ctx: WorkspaceContext,
  { kind, path }: { kind: string; path: string },
  owner: string,
  write: boolean,
): Promise<void> {
  await entriesOfKind(kind).set(ctx, path, checkName("owner", owner), write);
}

/** @throws as `getEntries`, and Forbidden; BadRequest for who has none */
export async function removeEntry(
  ctx: WorkspaceContext,
  { kind, path }: { kind: string; path: string },
  owner: string,
): Promise<void> {
  await entriesOfKind(kind).set(ctx, path, owner, undefined);
}
