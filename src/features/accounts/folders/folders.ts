/** Folders: their owners, and who may read and write the items in them. */
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import { parseFolderOrGroupName } from "../../../lib/text/paths.ts";
import { type Permissions, resolveFolderRight } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { isBuiltInFolder, withBuiltInFolders } from "../../tenancy/people/built-in-folders.ts";
import { type FolderRow, folders } from "../../tenancy/people/folder-tables.ts";
import { invalidateMembers } from "../../tenancy/people/members.ts";
import {
  createAuditParameters,
  parseForeignGrantee,
  requireGrantee,
  withGrant,
} from "../../tenancy/rights/grants.ts";
import { countBelow, isPlaceUsed, listItemKinds } from "../../tenancy/rights/item-kinds.ts";
import { mergeUnknownFields, type UnknownFields } from "../../tenancy/rights/unknown-fields.ts";

export interface NewFolder {
  name: string;
  display_name?: string | undefined;
  summary?: string | undefined;
  owners?: string[] | undefined;
  extra_perms?: Permissions | undefined;
  /** Fields that this version does not know; see `unknown-fields.ts`. */
  extra?: UnknownFields | undefined;
}

/** Finds a folder, without checking the caller's rights. */
async function findFolder(db: Reader, workspace_id: string, name: string): Promise<FolderRow | undefined> {
  const rows = await db
    .select()
    .from(folders)
    .where(and(eq(folders.workspace_id, workspace_id), eq(folders.name, name)));
  return withBuiltInFolders(workspace_id, rows, name)[0];
}

export async function hasFolder(ctx: WorkspaceContext, name: string): Promise<boolean> {
  return (await findFolder(ctx.app.db.read, ctx.caller.member.workspace_id, name)) !== undefined;
}

/** Returns a folder with its owners and grants. @throws NotFound, also if the caller has no right in the folder */
export async function getFolder(
  ctx: WorkspaceContext,
  name: string,
  db: Reader = ctx.app.db.read,
): Promise<FolderRow> {
  const { member } = ctx.caller;
  const folder = await findFolder(db, member.workspace_id, name);
  if (!folder || !(member.is_admin || resolveFolderRight(member, folder))) {
    throw new NotFound(`folder ${name} in workspace ${member.workspace_id}`);
  }
  return folder;
}

/** Lists the folders in which the caller may read, by name. */
export async function listFolders(
  ctx: WorkspaceContext,
  { only_member_of }: { only_member_of: boolean } = { only_member_of: false },
): Promise<FolderRow[]> {
  const { member } = ctx.caller;
  const { workspace_id } = member;
  const rows = await ctx.app.db.read.select().from(folders).where(eq(folders.workspace_id, workspace_id));
  const all = withBuiltInFolders(workspace_id, rows);
  return member.is_admin && !only_member_of
    ? all
    : all.filter((folder) => resolveFolderRight(member, folder));
}

/** Whether the caller may change the folder's owners and permissions. */
export function isFolderOwner({ caller: { member } }: WorkspaceContext, folder: FolderRow): boolean {
  return member.is_admin || (!member.operator && resolveFolderRight(member, folder) === "owner");
}

function requireFolderOwner(ctx: WorkspaceContext, folder: FolderRow): void {
  if (isFolderOwner(ctx, folder)) return;
  const owners = folder.owners.length > 0 ? `${folder.owners.join(", ")} and admins` : "admins alone";
  throw new Forbidden(`${ctx.username} does not own folder ${folder.name}: this needs ${owners}`);
}

/**
 * Creates a folder owned by the caller and the given owners.
 * @throws BadRequest for an invalid or used name; Forbidden if items already exist below it, because the caller would
 * gain control of them
 */
export async function createFolder(ctx: WorkspaceContext, body: NewFolder): Promise<void> {
  const { member } = ctx.caller;
  const { workspace_id } = member;
  const name = parseFolderOrGroupName("folder", body.name);
  const owners = parseOwners(body.owners ?? []);
  const extra_perms = parseFolderAcl(body.extra_perms ?? {});
  await ctx.write({ resource: name }, async (tx) => {
    await lockFolder(tx, workspace_id, name);
    if (await findFolder(tx, workspace_id, name)) throw new BadRequest(`there is a folder ${name} already`);
    if (!member.is_admin && (await isPlaceUsed(ctx.app, tx, workspace_id, `f/${name}`))) {
      throw new Forbidden(
        `there is something in f/${name}/ from before, which would become yours: an admin must create the folder`,
      );
    }
    const me = `u/${ctx.username}`;
    // A super admin who is not a member has no username here. Admins write everywhere, so they may name other owners.
    const isOwn = member.username !== member.email && !(member.is_admin && body.owners);
    await storeFolder(ctx, tx, {
      workspace_id,
      name,
      summary: body.summary ?? "",
      display_name: body.display_name ?? null,
      extra: mergeUnknownFields(null, { ...body.extra, ...listIneffectiveRights(owners, extra_perms) }),
      owners_implied: member.is_admin && !body.owners && !body.extra_perms,
      owners: isOwn && !owners.includes(me) ? [me, ...owners] : owners,
      extra_perms,
    });
  });
}

/** Changes the given fields of a folder. @throws NotFound, Forbidden, BadRequest for an invalid grantee */
export async function updateFolder(
  ctx: WorkspaceContext,
  name: string,
  body: Omit<NewFolder, "name">,
): Promise<void> {
  const owners = body.owners && parseOwners(body.owners);
  const entries = body.extra_perms && parseFolderAcl(body.extra_perms);
  await changeFolder(ctx, name, {}, (folder) => {
    const kept = Object.entries(folder.extra_perms).filter(
      ([entry]) => !owners || owners.includes(entry) || !folder.owners.includes(entry),
    );
    const { extra_perms: before, ...others } = folder.extra ?? {};
    const told = entries
      ? listIneffectiveRights(owners ?? folder.owners, entries)
      : before
        ? { extra_perms: before }
        : undefined;
    return {
      summary: body.summary ?? folder.summary,
      display_name: body.display_name ?? folder.display_name,
      extra: mergeUnknownFields(others, { ...body.extra, ...told }),
      owners: owners ?? folder.owners,
      extra_perms: entries ?? Object.fromEntries(kept),
    };
  });
}

/** Adds an owner to a folder. @throws NotFound, Forbidden, BadRequest for an unknown grantee */
export async function addOwner(ctx: WorkspaceContext, name: string, owner: string): Promise<void> {
  await changeFolder(ctx, name, { owner }, async (folder, tx) => {
    await requireGrantee(tx, folder.workspace_id, "owner", owner);
    return { owners: [...new Set([...folder.owners, owner])] };
  });
}

/**
 * Removes an owner.
 * @param write the right they keep; none if left out
 * @throws NotFound, Forbidden, BadRequest if they are not an owner
 */
export async function removeOwner(
  ctx: WorkspaceContext,
  name: string,
  { owner, write }: { owner: string; write?: boolean | undefined },
): Promise<void> {
  await changeFolder(ctx, name, { owner }, (folder) => {
    if (!folder.owners.includes(owner)) {
      throw new BadRequest(`body field \`owner\`: ${owner} does not own folder ${name}`);
    }
    const { [owner]: _, ...others } = folder.extra_perms;
    return {
      owners: folder.owners.filter((other) => other !== owner),
      extra_perms: write === undefined ? others : { ...others, [owner]: write },
    };
  });
}

/**
 * Sets a grantee's right to the folder's items, or removes it if `write` is undefined.
 * @throws NotFound, Forbidden, BadRequest for an owner, whose right follows from ownership
 */
export async function setFolderGrant(
  ctx: WorkspaceContext,
  name: string,
  owner: string,
  write: boolean | undefined,
): Promise<void> {
  await changeFolder(ctx, name, createAuditParameters("folder", owner, write), async (folder, tx) => {
    if (folder.owners.includes(owner) && write !== true) {
      throw new BadRequest(
        `body field \`owner\`: ${owner} owns folder ${name}: use folders/removeowner first`,
      );
    }
    const { workspace_id, extra_perms: entries } = folder;
    return {
      extra_perms: await withGrant(tx, { workspace_id, of: `folder ${name}`, entries }, owner, write),
    };
  });
}

/**
 * Deletes a folder; its items stay, for admins and those with grants on the item itself. @throws NotFound, Forbidden
 */
export async function deleteFolder(ctx: WorkspaceContext, name: string): Promise<void> {
  await ctx.write({ resource: name }, async (tx) => {
    const { workspace_id } = ctx.caller.member;
    await lockFolder(tx, workspace_id, name);
    const folder = await getFolder(ctx, name, tx);
    requireFolderOwner(ctx, folder);
    if (isBuiltInFolder(name)) await storeFolder(ctx, tx, { ...folder, owners: [], extra_perms: {} }, true);
    else {
      await tx.delete(folders).where(and(eq(folders.workspace_id, workspace_id), eq(folders.name, name)));
    }
    tx.afterCommit(() => invalidateMembers(ctx.app, workspace_id));
  });
}

/** Counts the items in a folder by kind. @throws NotFound */
export async function countFolderItems(ctx: WorkspaceContext, name: string): Promise<Record<string, number>> {
  const { workspace_id } = await getFolder(ctx, name);
  const usage: Record<string, number> = {};
  for (const kind of listItemKinds(ctx.app).values()) {
    const { countedAs = `${kind.kind}s` } = kind;
    const count = await countBelow(ctx.app.db.read, kind, workspace_id, `f/${name}`);
    usage[countedAs] = (usage[countedAs] ?? 0) + count;
  }
  return usage;
}

function lockFolder(tx: Tx, workspace_id: string, name: string): Promise<void> {
  return tx.lock(`folder ${workspace_id} ${name}`);
}

/** Changes a folder, for its owners. `parameters` go into the audit row. */
async function changeFolder(
  ctx: WorkspaceContext,
  name: string,
  parameters: Record<string, string>,
  to: (folder: FolderRow, tx: Tx) => Partial<FolderRow> | Promise<Partial<FolderRow>>,
): Promise<void> {
  await ctx.write({ resource: name, parameters }, async (tx) => {
    await lockFolder(tx, ctx.caller.member.workspace_id, name);
    const folder = await getFolder(ctx, name, tx);
    requireFolderOwner(ctx, folder);
    const changes = await to(folder, tx);
    const next = { ...folder, ...changes };
    const isSame = Bun.deepEquals([next.owners, next.extra_perms], [folder.owners, folder.extra_perms]);
    await storeFolder(ctx, tx, { ...next, owners_implied: folder.owners_implied && isSame });
  });
}

async function storeFolder(
  ctx: WorkspaceContext,
  tx: Tx,
  folder: Omit<FolderRow, "created_by" | "edited_at" | "deleted"> & { created_by?: string },
  deleted = false,
): Promise<void> {
  const row = {
    ...folder,
    extra_perms: {
      ...folder.extra_perms,
      ...Object.fromEntries(folder.owners.map((owner) => [owner, true])),
    },
    created_by: folder.created_by ?? ctx.username,
    edited_at: ctx.app.clock(),
    deleted,
  };
  await tx
    .insert(folders)
    .values(row)
    .onConflictDoUpdate({ target: [folders.workspace_id, folders.name], set: row });
  tx.afterCommit(() => invalidateMembers(ctx.app, folder.workspace_id));
}

/** Returns entries that deny owners to write; they have no effect, but are kept as a field. */
function listIneffectiveRights(owners: string[], entries: Permissions): UnknownFields | undefined {
  const denied = Object.entries(entries).filter(([who, right]) => !right && owners.includes(who));
  return denied.length > 0 ? { extra_perms: Object.fromEntries(denied) } : undefined;
}

function parseOwners(owners: readonly string[]): string[] {
  return [...new Set(owners.map((owner) => parseForeignGrantee("owners", owner)))];
}

function parseFolderAcl(entries: Permissions): Permissions {
  for (const name of Object.keys(entries)) parseForeignGrantee("extra_perms", name);
  return entries;
}
