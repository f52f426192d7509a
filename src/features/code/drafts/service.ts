/** Drafts: what somebody was about to deploy. Nothing is checked of them but where they stand. */
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { NotFound } from "../../../lib/errors.ts";
import { checkPath } from "../../../lib/text/paths.ts";
import { requireWrite } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { aclOf, itemKindsOf } from "../../tenancy/rights/item-kinds.ts";
import { drafts } from "./tables.ts";

export type DraftKind = (typeof drafts.$inferSelect)["kind"];

interface Place {
  workspace_id: string;
  kind: DraftKind;
  path: string;
}

const at = ({ workspace_id, kind, path }: Place) =>
  and(eq(drafts.workspace_id, workspace_id), eq(drafts.kind, kind), eq(drafts.path, path));

/** What the draft holds; undefined when there is none. */
export async function draftOf(db: Reader, place: Place): Promise<unknown> {
  const [row] = await db.select({ value: drafts.value }).from(drafts).where(at(place));
  return row?.value;
}

/** Keeps a draft, in place of the one before. @throws BadRequest for a bad path, Forbidden */
export async function saveDraft(
  ctx: WorkspaceContext,
  draft: { kind: DraftKind; path: string; value: unknown },
): Promise<void> {
  const path = checkPath(draft.path);
  const place = { workspace_id: ctx.caller.member.workspace_id, kind: draft.kind, path };
  await requireWriteAt(ctx, place);
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
  await requireWriteAt(ctx, place);
  await ctx.write({ resource: path }, async (tx) => {
    const deleted = await tx.delete(drafts).where(at(place)).returning({ path: drafts.path });
    if (deleted.length === 0) {
      throw new NotFound(`draft of ${kind} ${path} in workspace ${place.workspace_id}`);
    }
  });
}

/** What was drafted is deployed, or what it was a draft of is gone. */
export async function forgetDraft(tx: Tx, place: Place): Promise<void> {
  await tx.delete(drafts).where(at(place));
}

/** Who may deploy there may keep a draft there. */
async function requireWriteAt(ctx: WorkspaceContext, { kind, path, workspace_id }: Place): Promise<void> {
  const entries = await aclOf(ctx.app.db.read, itemKindsOf(ctx.app).get(kind), workspace_id, path);
  requireWrite(ctx.caller.member, path, entries);
}
