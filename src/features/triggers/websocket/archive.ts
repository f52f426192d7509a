/** WebSocket triggers in the archive of a workspace. */
import { and, asc, eq } from "drizzle-orm";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { readableBy } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { createTriggerEntry } from "../common/archive.ts";
import { websocketTriggers } from "./tables.ts";

async function listWebsocketTriggerEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { member } = ctx.caller;
  const rows = await ctx.app.db.read
    .select()
    .from(websocketTriggers)
    .where(
      and(eq(websocketTriggers.workspace_id, member.workspace_id), readableBy(member, websocketTriggers)),
    )
    .orderBy(asc(websocketTriggers.path));
  return rows.map((row) =>
    createTriggerEntry("websocket_trigger", row, {
      summary: row.summary,
      script_path: row.script_path,
      is_flow: row.is_flow,
      url: row.url,
      url_runnable_args: row.url_runnable_args,
      filters: row.filters,
      initial_messages: row.initial_messages,
      can_return_message: row.can_return_message,
      can_return_error_result: row.can_return_error_result,
      retry: row.retry,
    }),
  );
}

export const websocketTriggerSection: ArchiveSection = {
  tables: [websocketTriggers],
  domain: "websocket_triggers",
  isWanted: (options) => options.include_triggers,
  entries: listWebsocketTriggerEntries,
};
