/** HTTP routes in the archive of a workspace. */
import { and, asc, eq } from "drizzle-orm";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { readableBy } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { createTriggerEntry } from "../common/archive.ts";
import { httpTriggers } from "./tables.ts";

async function listHttpTriggerEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { member } = ctx.caller;
  const rows = await ctx.app.db.read
    .select()
    .from(httpTriggers)
    .where(and(eq(httpTriggers.workspace_id, member.workspace_id), readableBy(member, httpTriggers)))
    .orderBy(asc(httpTriggers.path));
  return rows.map((row) =>
    createTriggerEntry("http_trigger", row, {
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

export const httpTriggerSection: ArchiveSection = {
  tables: [httpTriggers],
  domain: "http_triggers",
  isWanted: (options) => options.include_triggers,
  entries: listHttpTriggerEntries,
};
