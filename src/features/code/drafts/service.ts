/**
 * Drafts of scripts, flows and apps: each person has their own of an item. Their content is stored unchecked; only the
 * path is validated.
 */
import { and, desc, eq, inArray, ne } from "drizzle-orm";
import { z } from "zod";
import type { Tx } from "../../../database/database.ts";
import { NotFound } from "../../../lib/errors.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import { requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { aclOf, itemKindsOf } from "../../tenancy/rights/item-kinds.ts";
import { drafts } from "./tables.ts";

export type DraftKind = (typeof drafts.$inferSelect)["kind"];

/** The item that drafts are of. */
interface DraftPlace {
  workspace_id: string;
  kind: DraftKind;
  path: string;
}

interface DraftKey extends DraftPlace {
  /** Username of the person whose draft it is. */
  created_by: string;
}

const at = ({ workspace_id, kind, path }: DraftPlace) =>
  and(eq(drafts.workspace_id, workspace_id), eq(drafts.kind, kind), eq(drafts.path, path));

const whereDraft = (key: DraftKey) => and(at(key), eq(drafts.created_by, key.created_by));

/** Fields of an item that is returned together with its drafts. */
export const DraftFields = {
  draft: z.unknown().optional(),
  other_drafts: z.array(z.object({ created_by: z.string(), created_at: z.date() })),
};

/** Query parameters of operations that return an item with its drafts. */
export const draftQuery = z.object({ draft_of: z.string().optional() });

/**
 * Returns the caller's draft, or that of `draft_of`, and the users who have other drafts. The caller must be allowed
 * to read the item.
 */
export async function readDrafts(
  ctx: WorkspaceContext,
  { kind, path, draft_of = ctx.username }: { kind: DraftKind; path: string; draft_of?: string | undefined },
): Promise<{ draft: unknown; other_drafts: { created_by: string; created_at: Date }[] }> {
  const place = { workspace_id: ctx.caller.member.workspace_id, kind, path };
  const { read } = ctx.app.db;
  const [own] = await read
    .select({ value: drafts.value })
    .from(drafts)
    .where(whereDraft({ ...place, created_by: draft_of }));
  const other_drafts = await read
    .select({ created_by: drafts.created_by, created_at: drafts.created_at })
    .from(drafts)
    .where(and(at(place), ne(drafts.created_by, ctx.username)))
    .orderBy(desc(drafts.created_at), drafts.created_by);
  return { draft: own?.value, other_drafts };
}

/** Stores the caller's draft, replacing their previous one. @throws BadRequest for an invalid path, Forbidden */
export async function saveDraft(
  ctx: WorkspaceContext,
  draft: { kind: DraftKind; path: string; value: unknown },
): Promise<void> {
  const path = parsePath(draft.path);
  const place = { workspace_id: ctx.caller.member.workspace_id, kind: draft.kind, path };
  await requireDraftWrite(ctx, place);
  await ctx.write({ resource: path }, async (tx) => {
    const row = { ...place, value: draft.value, created_by: ctx.username, created_at: ctx.app.clock() };
    const target = [drafts.workspace_id, drafts.kind, drafts.path, drafts.created_by];
    await tx.insert(drafts).values(row).onConflictDoUpdate({ target, set: row });
  });
}

/** Deletes the caller's draft, or that of `created_by`. @throws NotFound, Forbidden */
export async function deleteDraft(
  ctx: WorkspaceContext,
  {
    kind,
    path,
    created_by = ctx.username,
  }: { kind: DraftKind; path: string; created_by?: string | undefined },
): Promise<void> {
  const key = { workspace_id: ctx.caller.member.workspace_id, kind, path, created_by };
  await requireDraftWrite(ctx, key);
  await ctx.write({ resource: path }, async (tx) => {
    const deleted = await tx.delete(drafts).where(whereDraft(key)).returning({ path: drafts.path });
    if (deleted.length === 0) {
      throw new NotFound(`draft of ${kind} ${path} by ${created_by} in workspace ${key.workspace_id}`);
    }
  });
}

/** Deletes the draft of the user who deployed. Other users' drafts stay. */
export async function deleteDraftRow(tx: Tx, key: DraftKey): Promise<void> {
  await tx.delete(drafts).where(whereDraft(key));
}

/** Deletes all users' drafts of a deleted item. */
export async function deleteDraftRows(tx: Tx, place: DraftPlace): Promise<void> {
  await tx.delete(drafts).where(at(place));
}

/** Moves all users' drafts of an item to its new path. */
export async function moveDraftRows(tx: Tx, place: DraftPlace, path: string): Promise<void> {
  const moved = tx.select({ created_by: drafts.created_by }).from(drafts).where(at(place));
  await tx.delete(drafts).where(and(at({ ...place, path }), inArray(drafts.created_by, moved)));
  await tx.update(drafts).set({ path }).where(at(place));
}

/** @throws Forbidden unless the caller may deploy to the path */
async function requireDraftWrite(
  ctx: WorkspaceContext,
  { kind, path, workspace_id }: DraftPlace,
): Promise<void> {
  const entries = await aclOf(ctx.app.db.read, itemKindsOf(ctx.app).get(kind), workspace_id, path);
  requireWriteAccess(ctx.caller.member, path, entries);
}
