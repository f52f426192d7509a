/** What admins have settled for a workspace: read whole, changed field by field. */
import { eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { forgetErrorHandler } from "./error-handler-cache.ts";
import type { StoredSettings } from "./settings-records.ts";
import { workspaceSettings } from "./tables.ts";

export interface Settings extends StoredSettings {
  auto_invite_domain: string | undefined;
}

/** The settings as they are kept: what was never set is absent. */
export async function readSettings(db: Reader, workspace_id: string): Promise<Settings> {
  const [row] = await db
    .select()
    .from(workspaceSettings)
    .where(eq(workspaceSettings.workspace_id, workspace_id));
  return { ...row?.settings, auto_invite_domain: row?.auto_invite_domain ?? undefined };
}

/** Undefined and null mean: as if it had never been set. */
type Change = { [K in keyof Settings]?: Settings[K] | null | undefined };

/**
 * Changes the named settings, and no others, in the operation's transaction.
 * @param also what belongs to the change elsewhere
 */
export async function editSettings(
  ctx: WorkspaceContext,
  change: Change,
  parameters: Record<string, string> = {},
  also: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  await ctx.write({ resource: workspace_id, parameters }, async (tx) => {
    await storeSettings(tx, workspace_id, change);
    await also(tx);
    tx.afterCommit(() => forgetErrorHandler(ctx.app, workspace_id));
  });
}

async function storeSettings(tx: Tx, workspace_id: string, change: Change): Promise<void> {
  await tx.lock(`settings of workspace ${workspace_id}`);
  const { auto_invite_domain = null, ...settings } = merged(await readSettings(tx, workspace_id), change);
  const row = { workspace_id, auto_invite_domain, settings };
  await tx
    .insert(workspaceSettings)
    .values(row)
    .onConflictDoUpdate({ target: workspaceSettings.workspace_id, set: row });
}

function merged(before: Settings, change: Change): Settings {
  const after = Object.entries({ ...before, ...change }).filter(([, value]) => value != null);
  return Object.fromEntries(after) as unknown as Settings;
}
