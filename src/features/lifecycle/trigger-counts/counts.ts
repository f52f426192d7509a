/** What starts a script or flow by itself, and how often each kind is there. */
import { and, count, eq, isNull, or } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import { type PathTable, pathTable } from "../../../database/path-table.ts";
import type { App } from "../../../platform/app/context.ts";
import { runnablesOf } from "../../tenancy/tokens/scopes.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { httpTriggers } from "../../triggers/http/tables.ts";
import { schedules } from "../../triggers/schedules/tables.ts";
import { websocketTriggers } from "../../triggers/websocket/tables.ts";

export interface Counted {
  workspace_id: string;
  path: string;
  is_flow: boolean;
}

export interface TriggersCount {
  /** The schedule at the runnable's own path. */
  primary_schedule?: { schedule: string };
  schedule_count: number;
  http_routes_count: number;
  /** Tokens that may run this and nothing else. */
  webhook_count: number;
  websocket_count: number;
}

export async function countTriggers(app: App, counted: Counted): Promise<TriggersCount> {
  const [schedule_count, http_routes_count, websocket_count, webhook_count, primary] = await Promise.all([
    countIn(app, pathTable(schedules, "script_path", "is_flow"), counted),
    countIn(app, pathTable(httpTriggers, "script_path", "is_flow"), counted),
    countIn(app, pathTable(websocketTriggers, "script_path", "is_flow"), counted),
    countWebhooks(app, counted),
    primarySchedule(app, counted),
  ]);
  return {
    ...(primary ? { primary_schedule: primary } : {}),
    schedule_count,
    http_routes_count,
    webhook_count,
    websocket_count,
  };
}

async function countIn(app: App, rows: PathTable, { workspace_id, path, is_flow }: Counted): Promise<number> {
  const [row] = await app.db.read
    .select({ n: count() })
    .from(rows)
    .where(and(eq(rows.workspace_id, workspace_id), eq(rows.script_path, path), eq(rows.is_flow, is_flow)));
  return row?.n ?? 0;
}

async function primarySchedule(
  app: App,
  { workspace_id, path, is_flow }: Counted,
): Promise<{ schedule: string } | undefined> {
  const [row] = await app.db.read
    .select({ schedule: schedules.schedule })
    .from(schedules)
    .where(
      and(
        eq(schedules.workspace_id, workspace_id),
        eq(schedules.path, path),
        eq(schedules.script_path, path),
        eq(schedules.is_flow, is_flow),
      ),
    );
  return row;
}

/** The text only narrows them down: what a scope means is read from it. */
async function countWebhooks(app: App, { workspace_id, path, is_flow }: Counted): Promise<number> {
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
export async function usedTriggers(
  app: App,
  workspace_id: string,
): Promise<{ http_routes_used: boolean; websocket_used: boolean }> {
  const [http_routes_used, websocket_used] = await Promise.all(
    [httpTriggers, websocketTriggers].map((table) => anyIn(app, pathTable(table), workspace_id)),
  );
  return { http_routes_used: http_routes_used!, websocket_used: websocket_used! };
}

async function anyIn(app: App, rows: PathTable, workspace_id: string): Promise<boolean> {
  const found = await app.db.read
    .select({ path: rows.path })
    .from(rows)
    .where(eq(rows.workspace_id, workspace_id))
    .limit(1);
  return found.length > 0;
}
