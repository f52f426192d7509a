/** Stored triggers in the archive of a workspace: the fields that the client sent, and no others. */
import { and, asc, eq } from "drizzle-orm";
import type { ZipEntry } from "../../../../lib/files/zip.ts";
import { readableBy } from "../../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../../platform/app/lifecycle.ts";
import type { StoredKindName } from "./kinds.ts";
import { toStoredMode, whereKind } from "./service.ts";
import { type StoredTrigger, storedTriggers } from "./tables.ts";

/** Writes the state as `mode`, `enabled` or both, as the client did; without either, only that it is disabled. */
function toFields(row: StoredTrigger): Record<string, unknown> {
  const { script_path, is_flow, enabled, value } = row;
  const saysState = value.mode != null || value.enabled != null;
  return {
    ...value,
    ...(script_path !== "" && { script_path }),
    ...(is_flow && { is_flow }),
    ...(value.mode != null && { mode: toStoredMode(row) }),
    ...((value.enabled != null || !(saysState || enabled)) && { enabled }),
  };
}

async function listEntries(ctx: WorkspaceContext, kind: StoredKindName): Promise<ZipEntry[]> {
  const { member } = ctx.caller;
  const rows = await ctx.app.db.read
    .select()
    .from(storedTriggers)
    .where(
      and(
        eq(storedTriggers.workspace_id, member.workspace_id),
        whereKind(kind),
        readableBy(member, storedTriggers),
      ),
    )
    .orderBy(asc(storedTriggers.path));
  return rows.map((row) => ({
    name: `${row.path}.${kind}_trigger.json`,
    content: JSON.stringify(toFields(row), null, 2),
  }));
}

export const createStoredSection = (kind: StoredKindName): ArchiveSection => ({
  tables: [storedTriggers],
  domain: `${kind}_triggers`,
  // Tokens made for the kinds that run stay sufficient where there are no others.
  needsScope: "if it has files",
  isWanted: (options) => options.include_triggers,
  entries: (ctx) => listEntries(ctx, kind),
});
