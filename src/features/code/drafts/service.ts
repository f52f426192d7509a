/** Drafts of scripts, flows and apps. Their content is stored unchecked; only the path is validated. */
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { NotFound } from "../../../lib/errors.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import { requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { aclOf, itemKindsOf } from "../../tenancy/rights/item-kinds.ts";
import { drafts } from "./tables.ts";

export type DraftKind = (typeof drafts.$inferSelect)["kind"];

interface DraftKey {
  workspace_id: string;
  kind: DraftKind;
  path: string;
}

const whereDraft = ({ workspace_id, kind, path }: DraftKey) =>
  and(eq(drafts.workspace_id, workspace_id), eq(drafts.kind, kind), eq(drafts.path, path));

/** Returns the value of a draft, or undefined. */
export async function findDraft(db: Reader, place: DraftKey): Promise<unknown> {
  const [row] = await db.select({ value: drafts.value }).from(drafts).where(whereDraft(place));
  return row?.value;
}

/** Stores a draft, replacing the one before. @throws BadRequest for an invalid path, Forbidden */
export async function saveDraft(
  ctx: WorkspaceContext,
  draft: { kind: DraftKind; path: string; value: unknown },
): Promise<void> {
  const path = parsePath(draft.path);
  const place = { workspace_id: ctx.caller.member.workspace_id, kind: draft.kind, path };
  await requireDraftWrite(ctx, place);
  await ctx.write({ resource: path }, async (tx) => {
    const row = { ...place, value: draft.value, created_by: ctx.username, created_at: ctx.app.clock() };
    await tx
      .insert(drafts)
      .values(row)
      .onConflictDoUpdate({ target: [drafts.workspace_id, drafts.kind, drafts.path], set: row });
  });
}

/** @throws NotFound, Forbidden */
export async function deleteDraft(
  ctx: WorkspaceContext,
  { kind, path }: { kind: DraftKind; path: string },
): Promise<void> {
  const place = { workspace_id: ctx.caller.member.workspace_id, kind, path };
  await requireDraftWrite(ctx, place);
  await ctx.write({ resource: path }, async (tx) => {
    const deleted = await tx.delete(drafts).where(whereDraft(place)).returning({ path: drafts.path });
    if (deleted.length === 0) {
      throw new NotFound(`draft of ${kind} ${path} in workspace ${place.workspace_id}`);
    }
  });
}

/** Deletes a draft whose item was deployed or deleted. */
export async function deleteDraftRow(tx: Tx, place: DraftKey): Promise<void> {
  await tx.delete(drafts).where(whereDraft(place));
}

/** @throws Forbidden unless the caller may deploy to the path */
async function requireDraftWrite(
  ctx: WorkspaceContext,
  { kind, path, workspace_id }: DraftKey,
): Promise<void> {
  const entries = await aclOf(ctx.app.db.read, itemKindsOf(ctx.app).get(kind), workspace_id, path);
  requireWriteAccess(ctx.caller.member, path, entries);
}
