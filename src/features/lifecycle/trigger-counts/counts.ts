/** Number of triggers of each kind per script or flow. */
import { and, count, eq, isNull, or } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import type { App } from "../../../platform/app/context.ts";
import type { TriggerCount, TriggeredRunnable } from "../../../platform/app/lifecycle.ts";
import { listRunnables } from "../../tenancy/tokens/scopes.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";

type Rows = Pick<TriggerCount, "table" | "only">;

const triggerCountsOf = (app: App) => app.features.flatMap(({ triggerCounts = [] }) => triggerCounts);

/** Counts the triggers that features declare, and the tokens that can run only this script or flow. */
export async function countTriggers(app: App, runnable: TriggeredRunnable): Promise<Record<string, unknown>> {
  const counted = triggerCountsOf(app).map(async ({ table, only, count, details }) => ({
    ...(await details?.(app, runnable)),
    [count]: await countRows(app, { table, only }, runnable),
  }));
  const webhook_count = await countTokens(app, runnable);
  return Object.assign({ webhook_count }, ...(await Promise.all(counted)));
}

async function countRows(
  app: App,
  { table, only }: Rows,
  { workspace_id, path, is_flow }: TriggeredRunnable,
): Promise<number> {
  const [row] = await app.db.read
    .select({ n: count() })
    .from(table)
    .where(
      and(
        eq(table.workspace_id, workspace_id),
        eq(table.script_path, path),
        eq(table.is_flow, is_flow),
        only,
      ),
    );
  return row?.n ?? 0;
}

/** Counts webhook tokens. The text search only preselects rows; the scopes are then parsed. */
async function countTokens(app: App, { workspace_id, path, is_flow }: TriggeredRunnable): Promise<number> {
  const rows = await app.db.read
    .select({ scopes: tokens.scopes, expiration: tokens.expiration })
    .from(tokens)
    .where(
      and(
        or(isNull(tokens.workspace_id), eq(tokens.workspace_id, workspace_id)),
        containsText(tokens.scopes, path),
      ),
    );
  const kind = is_flow ? "flows" : "scripts";
  const now = app.clock();
  return rows.filter(
    ({ scopes, expiration }) =>
      (expiration === null || expiration > now) &&
      listRunnables(scopes).some((runnable) => runnable.kind === kind && runnable.path === path),
  ).length;
}

/** Returns which kinds of triggers exist in the workspace, enabled or disabled. */
export async function findUsedTriggers(app: App, workspace_id: string): Promise<Record<string, boolean>> {
  const used = triggerCountsOf(app).flatMap(({ used, ...rows }) => (used ? [{ ...rows, used }] : []));
  const found = used.map(async (each) => [each.used, await hasAny(app, each, workspace_id)] as const);
  return Object.fromEntries(await Promise.all(found));
}

async function hasAny(app: App, { table, only }: Rows, workspace_id: string): Promise<boolean> {
  const found = await app.db.read
    .select({ path: table.path })
    .from(table)
    .where(and(eq(table.workspace_id, workspace_id), only))
    .limit(1);
  return found.length > 0;
}
