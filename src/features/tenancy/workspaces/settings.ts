/** Workspace settings that admins edit; read as a whole, changed field by field. */
import { eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { invalidateHandlers } from "./handler-cache.ts";
import type { StoredSettings } from "./settings-records.ts";
import { workspaceSettings } from "./tables.ts";

export interface WorkspaceSettingValues extends StoredSettings {
  auto_invite_domain: string | undefined;
}

/** Reads the stored settings; unset fields are absent. */
export async function readSettings(db: Reader, workspace_id: string): Promise<WorkspaceSettingValues> {
  const [row] = await db
    .select()
    .from(workspaceSettings)
    .where(eq(workspaceSettings.workspace_id, workspace_id));
  return { ...row?.settings, auto_invite_domain: row?.auto_invite_domain ?? undefined };
}

/** A partial change; undefined and null unset a field. */
type SettingsChange = { [K in keyof WorkspaceSettingValues]?: WorkspaceSettingValues[K] | null | undefined };

/**
 * Changes the given settings and writes the audit row in one transaction.
 * @param also further writes in the same transaction
 */
export async function editSettings(
  ctx: WorkspaceContext,
  change: SettingsChange,
  parameters: Record<string, string> = {},
  also: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  await ctx.write({ resource: workspace_id, parameters }, async (tx) => {
    await storeSettings(tx, workspace_id, change);
    await also(tx);
    tx.afterCommit(() => invalidateHandlers(ctx.app, workspace_id));
  });
}

async function storeSettings(tx: Tx, workspace_id: string, change: SettingsChange): Promise<void> {
  await tx.lock(`settings of workspace ${workspace_id}`);
  const { auto_invite_domain = null, ...settings } = mergeSettings(
    await readSettings(tx, workspace_id),
    change,
  );
  const row = { workspace_id, auto_invite_domain, settings };
  await tx
    .insert(workspaceSettings)
    .values(row)
    .onConflictDoUpdate({ target: workspaceSettings.workspace_id, set: row });
}

function mergeSettings(before: WorkspaceSettingValues, change: SettingsChange): WorkspaceSettingValues {
  const after = Object.entries({ ...before, ...change }).filter(([, value]) => value != null);
  return Object.fromEntries(after) as unknown as WorkspaceSettingValues;
}
