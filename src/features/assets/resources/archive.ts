/** Resources and their types in the archive of a workspace. */
import { asc, eq } from "drizzle-orm";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { jsonEntry, unlessFalse } from "../../tenancy/rights/archive-entry.ts";
import { resources, resourceTypes } from "../resource-tables.ts";
import { listResources } from "./service.ts";
import { isExtension } from "./types.ts";

/** What scripts have noted for themselves belongs to where they run. */
const NOT_EXPORTED = ["state", "cache"];

async function resourceEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const rows = await listResources(ctx, { excluded_types: NOT_EXPORTED });
  return rows.map(({ path, value, description, resource_type }) => ({
    name: `${path}.resource.json`,
    // A value may be null, and is said then.
    content: JSON.stringify({ value, description, resource_type }, null, 2),
  }));
}

/** The workspace's own types: those that all workspaces see are theirs already. */
async function resourceTypeEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const rows = await ctx.app.db.read
    .select()
    .from(resourceTypes)
    .where(eq(resourceTypes.workspace_id, ctx.caller.member.workspace_id))
    .orderBy(asc(resourceTypes.name));
  return rows.map(({ name, schema, description, format_extension, is_fileset }) =>
    jsonEntry(`${name}.resource-type.json`, {
      schema,
      description,
      format_extension: isExtension(format_extension) ? format_extension : undefined,
      is_fileset: unlessFalse(is_fileset),
    }),
  );
}

export const resourceSections: readonly ArchiveSection[] = [
  {
    tables: [resources],
    domain: "resources",
    isWanted: (options) => !options.skip_resources,
    entries: resourceEntries,
  },
  {
    tables: [resourceTypes],
    domain: "resources",
    isWanted: (options) => !options.skip_resource_types,
    entries: resourceTypeEntries,
  },
];
