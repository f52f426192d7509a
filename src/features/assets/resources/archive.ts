/** Resources and their types in the archive of a workspace. */
import { asc, eq } from "drizzle-orm";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { createJsonEntry, omitFalse } from "../../tenancy/rights/archive-entry.ts";
import { resources, resourceTypes } from "../resource-tables.ts";
import { listResources } from "./service.ts";
import { isFileExtension } from "./types.ts";

/** Types whose resources hold state of scripts, which is specific to an instance. */
const UNEXPORTED_TYPES = ["state", "cache"];

async function listResourceEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const rows = await listResources(ctx, { excluded_types: UNEXPORTED_TYPES });
  return rows.map(({ path, value, description, resource_type }) => ({
    name: `${path}.resource.json`,
    // Written even if it is null, since null is a valid value.
    content: JSON.stringify({ value, description, resource_type }, null, 2),
  }));
}

/** Exports the workspace's own resource types; types shared by all workspaces exist everywhere. */
async function listResourceTypeEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const rows = await ctx.app.db.read
    .select()
    .from(resourceTypes)
    .where(eq(resourceTypes.workspace_id, ctx.caller.member.workspace_id))
    .orderBy(asc(resourceTypes.name));
  return rows.map(({ name, schema, description, format_extension, is_fileset, extra }) =>
    createJsonEntry(
      `${name}.resource-type.json`,
      {
        schema,
        description,
        format_extension: isFileExtension(format_extension) ? format_extension : undefined,
        is_fileset: omitFalse(is_fileset),
      },
      extra,
    ),
  );
}

export const resourceSections: readonly ArchiveSection[] = [
  {
    tables: [resources],
    domain: "resources",
    isWanted: (options) => !options.skip_resources,
    entries: listResourceEntries,
  },
  {
    tables: [resourceTypes],
    domain: "resources",
    isWanted: (options) => !options.skip_resource_types,
    entries: listResourceTypeEntries,
  },
];
