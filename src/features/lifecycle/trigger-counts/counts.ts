/** How many triggers of each kind start a script or flow. */
import { and, count, eq, isNull, or } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import type { PathTable } from "../../../database/path-table.ts";
import type { App } from "../../../platform/app/context.ts";
import type { TriggeredRunnable } from "../../../platform/app/lifecycle.ts";
import { runnablesOf } from "../../tenancy/tokens/scopes.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";

const triggerCountsOf = (app: App) => app.features.flatMap(({ triggerCounts = [] }) => triggerCounts);

/** The fields that features declare, and the number of tokens that may run this and nothing else. */
export async function countTriggers(app: App, runnable: TriggeredRunnable): Promise<Record<string, unknown>> {
  const counted = triggerCountsOf(app).map(async ({ table, count, details }) => ({
    ...(await details?.(app, runnable)),
    [count]: await countIn(app, table, runnable),
  }));
  const webhook_count = await countTokens(app, runnable);
  return Object.assign({ webhook_count }, ...(await Promise.all(counted)));
}

async function countIn(
  app: App,
  table: PathTable,
  { workspace_id, path, is_flow }: TriggeredRunnable,
): Promise<number> {
  const [row] = await app.db.read
    .select({ n: count() })
    .from(table)
    .where(
      and(eq(table.workspace_id, workspace_id), eq(table.script_path, path), eq(table.is_flow, is_flow)),
    );
  return row?.n ?? 0;
}

/** The text only narrows them down: what a scope means is read from it. */
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
      runnablesOf(scopes).some((runnable) => runnable.kind === kind && runnable.path === path),
  ).length;
}

/** Which kinds of triggers the workspace has, switched on or not. */
export async function usedTriggers(app: App, workspace_id: string): Promise<Record<string, boolean>> {
  const used = triggerCountsOf(app).flatMap(({ table, used }) => (used ? [{ table, used }] : []));
  const found = used.map(async (each) => [each.used, await hasAny(app, each.table, workspace_id)] as const);
  return Object.fromEntries(await Promise.all(found));
}

async function hasAny(app: App, table: PathTable, workspace_id: string): Promise<boolean> {
  const found = await app.db.read
    .select({ path: table.path })
    .from(table)
    .where(eq(table.workspace_id, workspace_id))
    .limit(1);
  return found.length > 0;
}
