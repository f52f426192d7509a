/** Folders: who owns them, and who may read and write what is in them. */
import { and, eq } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import type { Reader, Tx } from "../../../database/database.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import { checkPlaceName } from "../../../lib/text/paths.ts";
import { folderRight, type Permissions } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { isDefault, withDefaults } from "../../tenancy/people/folder-defaults.ts";
import { type Folder, folders } from "../../tenancy/people/folder-tables.ts";
import { forgetMembers } from "../../tenancy/people/members.ts";
import { auditParameters, checkMention, requireGrantee, withGrant } from "../../tenancy/rights/grants.ts";
import { countBelow, hasItemsBelow, itemKindsOf } from "../../tenancy/rights/item-kinds.ts";
import { type Kept, mergeKept } from "../../tenancy/rights/unknown-fields.ts";

export interface NewFolder {
  name: string;
  display_name?: string | undefined;
  summary?: string | undefined;
  owners?: string[] | undefined;
  extra_perms?: Permissions | undefined;
  /** What is said of it beyond what is known here. */
  extra?: Kept | undefined;
}

/** One folder, whoever asks. */
async function findFolder(db: Reader, workspace_id: string, name: string): Promise<Folder | undefined> {
  const rows = await db
    .select()
    .from(folders)
    .where(and(eq(folders.workspace_id, workspace_id), eq(folders.name, name)));
  return withDefaults(workspace_id, rows, name)[0];
}

export async function folderExists(ctx: WorkspaceContext, name: string): Promise<boolean> {
  return (await findFolder(ctx.app.db.read, ctx.caller.member.workspace_id, name)) !== undefined;
}

/** @throws NotFound, also when the caller may read nothing in it */
export async function getFolder(
  ctx: WorkspaceContext,
  name: string,
  db: Reader = ctx.app.db.read,
): Promise<Folder> {
  const { member } = ctx.caller;
  const folder = await findFolder(db, member.workspace_id, name);
  if (!folder || !(member.is_admin || folderRight(member, folder))) {
    throw new NotFound(`folder ${name} in workspace ${member.workspace_id}`);
  }
  return folder;
}

/** The folders that the caller may read in, by name. */
export async function listFolders(
  ctx: WorkspaceContext,
  { only_member_of }: { only_member_of: boolean } = { only_member_of: false },
): Promise<Folder[]> {
  const { member } = ctx.caller;
  const { workspace_id } = member;
  const rows = await ctx.app.db.read.select().from(folders).where(eq(folders.workspace_id, workspace_id));
  const all = withDefaults(workspace_id, rows);
  return member.is_admin && !only_member_of ? all : all.filter((folder) => folderRight(member, folder));
}

/** Whether the caller may say who reads and writes in a folder. */
export function ownsFolder({ caller: { member } }: WorkspaceContext, folder: Folder): boolean {
  return member.is_admin || (!member.operator && folderRight(member, folder) === "owner");
}

function requireOwner(ctx: WorkspaceContext, folder: Folder): void {
  if (ownsFolder(ctx, folder)) return;
  const owners = folder.owners.length > 0 ? `${folder.owners.join(", ")} and admins` : "admins alone";
  throw new Forbidden(`${ctx.username} does not own folder ${folder.name}: that is for ${owners}`);
}

/**
 * Makes a folder that the caller owns, beside the owners given.
 * @throws BadRequest for a bad or taken name; Forbidden where something stands already that would come to be the caller's
 */
export async function createFolder(ctx: WorkspaceContext, body: NewFolder): Promise<void> {
  const { member } = ctx.caller;
  const { workspace_id } = member;
  const name = checkPlaceName("folder", body.name);
  const owners = checkOwners(body.owners ?? []);
  const extra_perms = checkEntries(body.extra_perms ?? {});
  await ctx.write({ resource: name }, async (tx) => {
    await lock(tx, workspace_id, name);
    if (await findFolder(tx, workspace_id, name)) throw new BadRequest(`there is a folder ${name} already`);
    if (!member.is_admin && (await isUsed(ctx.app, tx, workspace_id, name))) {
      throw new Forbidden(
        `there is something in f/${name}/ from before, which would be yours: an admin has to make the folder`,
      );
    }
    const me = `u/${ctx.username}`;
    // A super admin who is no member has no name here. Admins, who write everywhere, say who owns it.
    const isOwn = member.username !== member.email && !(member.is_admin && body.owners);
    await store(ctx, tx, {
      workspace_id,
      name,
      summary: body.summary ?? "",
      display_name: body.display_name ?? null,
      extra: mergeKept(null, body.extra),
      owners_implied: member.is_admin && !body.owners && !body.extra_perms,
      owners: isOwn && !owners.includes(me) ? [me, ...owners] : owners,
      extra_perms,
    });
  });
}

/** @throws NotFound, Forbidden, BadRequest for what names nobody */
export async function updateFolder(
  ctx: WorkspaceContext,
  name: string,
  body: Omit<NewFolder, "name">,
): Promise<void> {
  const owners = body.owners && checkOwners(body.owners);
  const entries = body.extra_perms && checkEntries(body.extra_perms);
  await change(ctx, name, {}, (folder) => {
    const kept = Object.entries(folder.extra_perms).filter(
      ([entry]) => !owners || owners.includes(entry) || !folder.owners.includes(entry),
    );
    return {
      summary: body.summary ?? folder.summary,
      display_name: body.display_name ?? folder.display_name,
      extra: mergeKept(folder.extra, body.extra),
      owners: owners ?? folder.owners,
      extra_perms: entries ?? Object.fromEntries(kept),
    };
  });
}

/** @throws NotFound, Forbidden, BadRequest for somebody unknown */
export async function addOwner(ctx: WorkspaceContext, name: string, owner: string): Promise<void> {
  await change(ctx, name, { owner }, async (folder, tx) => {
    await requireGrantee(tx, folder.workspace_id, "owner", owner);
    return { owners: [...new Set([...folder.owners, owner])] };
  });
}

/**
 * @param write the right that is left to them; none when left out
 * @throws NotFound, Forbidden, BadRequest for who is no owner
 */
export async function removeOwner(
  ctx: WorkspaceContext,
  name: string,
  { owner, write }: { owner: string; write?: boolean | undefined },
): Promise<void> {
  await change(ctx, name, { owner }, (folder) => {
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
 * Sets or, with undefined, takes away what somebody may do with what is in the folder.
 * @throws NotFound, Forbidden, BadRequest for an owner, whose right does not hang on an entry
 */
export async function setEntry(
  ctx: WorkspaceContext,
  name: string,
  owner: string,
  write: boolean | undefined,
): Promise<void> {
  await change(ctx, name, auditParameters("folder", owner, write), async (folder, tx) => {
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

/** What is in the folder stays, for admins and whoever has entries of its own. @throws NotFound, Forbidden */
export async function deleteFolder(ctx: WorkspaceContext, name: string): Promise<void> {
  await ctx.write({ resource: name }, async (tx) => {
    const { workspace_id } = ctx.caller.member;
    await lock(tx, workspace_id, name);
    const folder = await getFolder(ctx, name, tx);
    requireOwner(ctx, folder);
    if (isDefault(name)) await store(ctx, tx, { ...folder, owners: [], extra_perms: {} }, true);
    else {
      await tx.delete(folders).where(and(eq(folders.workspace_id, workspace_id), eq(folders.name, name)));
    }
    tx.afterCommit(() => forgetMembers(ctx.app, workspace_id));
  });
}

/** How many items of each kind the folder holds. @throws NotFound */
export async function usageOf(ctx: WorkspaceContext, name: string): Promise<Record<string, number>> {
  const { workspace_id } = await getFolder(ctx, name);
  const usage: Record<string, number> = {};
  for (const kind of itemKindsOf(ctx.app).values()) {
    const { countedAs = `${kind.kind}s` } = kind;
    const count = await countBelow(ctx.app.db.read, kind, workspace_id, `f/${name}`);
    usage[countedAs] = (usage[countedAs] ?? 0) + count;
  }
  return usage;
}

function lock(tx: Tx, workspace_id: string, name: string): Promise<void> {
  return tx.lock(`folder ${workspace_id} ${name}`);
}

/** Changes a folder as its owner. `parameters` stand in the audit row. */
async function change(
  ctx: WorkspaceContext,
  name: string,
  parameters: Record<string, string>,
  to: (folder: Folder, tx: Tx) => Partial<Folder> | Promise<Partial<Folder>>,
): Promise<void> {
  await ctx.write({ resource: name, parameters }, async (tx) => {
    await lock(tx, ctx.caller.member.workspace_id, name);
    const folder = await getFolder(ctx, name, tx);
    requireOwner(ctx, folder);
    const changes = await to(folder, tx);
    const next = { ...folder, ...changes };
    const isSame = Bun.deepEquals([next.owners, next.extra_perms], [folder.owners, folder.extra_perms]);
    await store(ctx, tx, { ...next, owners_implied: folder.owners_implied && isSame });
  });
}

async function store(
  ctx: WorkspaceContext,
  tx: Tx,
  folder: Omit<Folder, "created_by" | "edited_at" | "deleted"> & { created_by?: string },
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
  tx.afterCommit(() => forgetMembers(ctx.app, folder.workspace_id));
}

/** Whether anything stands in a folder that is not there, or has run there. */
async function isUsed(app: App, db: Reader, workspace_id: string, name: string): Promise<boolean> {
  const place = `f/${name}`;
  if (await hasItemsBelow(app, db, workspace_id, place)) return true;
  const [job] = await db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.workspace_id, workspace_id), startsWith(jobs.script_path, `${place}/`)))
    .limit(1);
  return job !== undefined;
}

function checkOwners(owners: readonly string[]): string[] {
  return [...new Set(owners.map((owner) => checkMention("owners", owner)))];
}

function checkEntries(entries: Permissions): Permissions {
  for (const name of Object.keys(entries)) checkMention("extra_perms", name);
  return entries;
}
