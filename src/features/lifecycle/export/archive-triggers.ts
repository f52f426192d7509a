/** Routes and WebSocket triggers as the files that existing clients know. Who edited them, and where they run, is left out. */
import { and, asc, eq } from "drizzle-orm";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { readableBy } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { Kept } from "../../tenancy/rights/unknown-fields.ts";
import { modeOf } from "../../triggers/common/mode.ts";
import { httpTriggers } from "../../triggers/http/tables.ts";
import { websocketTriggers } from "../../triggers/websocket/tables.ts";
import { jsonEntry } from "./archive-items.ts";

/** Whether it is switched on is said as it was said when it came: by a word, or by yes or no. */
function triggerEntry(
  kind: string,
  row: { path: string; enabled: boolean; extra: Kept | null },
  fields: Kept,
): ZipEntry {
  const { mode, enabled: _, ...kept } = row.extra ?? {};
  const switched = mode === undefined ? { enabled: row.enabled } : { mode: modeOf(row.enabled) };
  return jsonEntry(`${row.path}.${kind}.json`, { ...fields, ...switched }, kept);
}

export async function httpTriggerEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { member } = ctx.caller;
  const rows = await ctx.app.db.read
    .select()
    .from(httpTriggers)
    .where(and(eq(httpTriggers.workspace_id, member.workspace_id), readableBy(member, httpTriggers)))
    .orderBy(asc(httpTriggers.path));
  return rows.map((row) =>
    triggerEntry("http_trigger", row, {
      summary: row.summary,
      description: row.description,
      route_path: row.route_path,
      workspaced_route: row.workspaced_route,
      http_method: row.http_method,
      script_path: row.script_path,
      is_flow: row.is_flow,
      request_type: row.request_type,
      authentication_method: row.authentication_method,
      authentication_resource_path: row.authentication_resource_path,
      signature: row.signature,
      raw_string: row.raw_string,
      wrap_body: row.wrap_body,
      is_static_website: row.is_static_website,
      static_asset_config: row.static_asset_config,
      retry: row.retry,
    }),
  );
}

export async function websocketTriggerEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { member } = ctx.caller;
  const rows = await ctx.app.db.read
    .select()
    .from(websocketTriggers)
    .where(
      and(eq(websocketTriggers.workspace_id, member.workspace_id), readableBy(member, websocketTriggers)),
    )
    .orderBy(asc(websocketTriggers.path));
  return rows.map((row) =>
    triggerEntry("websocket_trigger", row, {
      summary: row.summary,
      script_path: row.script_path,
      is_flow: row.is_flow,
      url: row.url,
      url_runnable_args: row.url_runnable_args,
      filters: row.filters,
      initial_messages: row.initial_messages,
      can_return_message: row.can_return_message,
      can_return_error_result: row.can_return_error_result,
    }),
  );
}
