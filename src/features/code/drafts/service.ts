/**
 * Drafts of scripts, flows and apps: each person has their own of an item. Their content is stored unchecked; only the
 * path is validated.
 */
import { and, desc, eq, inArray, ne } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { Conflict, NotFound } from "../../../lib/errors.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import * as z from "../../../lib/zod/z.ts";
import { requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { findAcl, listItemKinds } from "../../tenancy/rights/item-kinds.ts";
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

const revisionOf = ({ created_at }: { created_at: Date }): string => created_at.toISOString();

const whereDraft = (key: DraftKey) => and(at(key), eq(drafts.created_by, key.created_by));

/** Fields of an item that is returned together with its drafts. */
export const DraftFields = {
  draft: z.unknown().optional(),
  /** Identifies the state of the draft; for `replaces` of the next save. */
  draft_revision: z.string().optional(),
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
): Promise<{
  draft: unknown;
  draft_revision: string | undefined;
  other_drafts: { created_by: string; created_at: Date }[];
}> {
  const place = { workspace_id: ctx.caller.member.workspace_id, kind, path };
  const { read } = ctx.app.db;
  const [own] = await read
    .select({ value: drafts.value, created_at: drafts.created_at })
    .from(drafts)
    .where(whereDraft({ ...place, created_by: draft_of }));
  const other_drafts = await read
    .select({ created_by: drafts.created_by, created_at: drafts.created_at })
    .from(drafts)
    .where(and(at(place), ne(drafts.created_by, ctx.username)))
    .orderBy(desc(drafts.created_at), drafts.created_by);
  return { draft: own?.value, draft_revision: own && revisionOf(own), other_drafts };
}

/**
 * Stores the caller's draft, replacing their previous one.
 * @param draft.replaces revision that the draft is based on, null if there was none; undefined: it is not checked
 * @returns the draft's revision
 * @throws BadRequest for an invalid path, Forbidden, Conflict if another draft was saved since `replaces`
 */
export async function saveDraft(
  ctx: WorkspaceContext,
  draft: { kind: DraftKind; path: string; value: unknown; replaces?: string | null | undefined },
): Promise<string> {
  const { kind, value, replaces } = draft;
  const path = parsePath(draft.path);
  const place = { workspace_id: ctx.caller.member.workspace_id, kind, path };
  await requireDraftWrite(ctx, place);
  return ctx.write({ resource: path }, async (tx) => {
    const key = { ...place, created_by: ctx.username };
    await tx.lock(`draft ${Object.values(key).join(" ")}`);
    const [before] = await tx.select({ created_at: drafts.created_at }).from(drafts).where(whereDraft(key));
    if (replaces !== undefined && replaces !== (before ? revisionOf(before) : null)) {
      throw new Conflict(
        before
          ? `the draft of ${kind} ${path} was saved elsewhere at ${revisionOf(before)}`
          : `the draft of ${kind} ${path} was discarded or deployed elsewhere`,
      );
    }
    // Two saves in the same millisecond are two revisions.
    const created_at = new Date(Math.max(ctx.app.clock().getTime(), (before?.created_at.getTime() ?? 0) + 1));
    const row = { ...key, value, created_at };
    const target = [drafts.workspace_id, drafts.kind, drafts.path, drafts.created_by];
    await tx.insert(drafts).values(row).onConflictDoUpdate({ target, set: row });
    return revisionOf(row);
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

/** Checks that the caller may save a draft at a path. @throws Forbidden unless the caller may deploy to the path */
async function requireDraftWrite(
  ctx: WorkspaceContext,
  { kind, path, workspace_id }: DraftPlace,
): Promise<void> {
  const entries = await findAcl(ctx.app.db.read, listItemKinds(ctx.app).get(kind), workspace_id, path);
  requireWriteAccess(ctx.caller.member, path, entries);
}
