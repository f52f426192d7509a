/** Flows in the archive of a workspace. */
import { and, asc, eq, getTableColumns } from "drizzle-orm";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { readableBy } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { createJsonEntry, omitFalse } from "../../tenancy/rights/archive-entry.ts";
import { flows, flowVersions } from "./tables.ts";

async function listFlowEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { member } = ctx.caller;
  const rows = await ctx.app.db.read
    .select({ ...getTableColumns(flows), value: flowVersions.value, schema: flowVersions.schema })
    .from(flows)
    .innerJoin(flowVersions, eq(flowVersions.id, flows.version))
    .where(
      and(
        eq(flows.workspace_id, member.workspace_id),
        eq(flows.archived, false),
        eq(flows.draft_only, false),
        readableBy(member, flows),
      ),
    )
    .orderBy(asc(flows.path));
  return rows.map((row) =>
    createJsonEntry(
      `${row.path}.flow.json`,
      {
        summary: row.summary,
        description: row.description,
        value: row.value,
        schema: row.schema,
        tag: row.tag,
        priority: row.priority,
        timeout: row.timeout,
        ws_error_handler_muted: omitFalse(row.ws_error_handler_muted),
        dedicated_worker: omitFalse(row.dedicated_worker),
        visible_to_runner_only: omitFalse(row.visible_to_runner_only),
        on_behalf_of_email: row.on_behalf_of_email,
      },
      row.extra,
    ),
  );
}

export const flowSection: ArchiveSection = {
  tables: [flows, flowVersions],
  domain: "flows",
  entries: listFlowEntries,
};
