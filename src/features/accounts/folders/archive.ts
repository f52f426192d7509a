/** Folders in the archive of a workspace. */
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { Permissions } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { folders } from "../../tenancy/people/folder-tables.ts";
import { createJsonEntry } from "../../tenancy/rights/archive-entry.ts";
import type { UnknownFields } from "../../tenancy/rights/unknown-fields.ts";
import { listFolders } from "./folders.ts";

/** Exports folders. Built-in folders are included only once they were edited. */
async function listFolderEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const rows = await listFolders(ctx);
  return rows
    .filter(({ edited_at }) => edited_at.getTime() > 0)
    .map(({ name, summary, display_name, owners, owners_implied, extra_perms, extra }) =>
      createJsonEntry(
        `f/${name}/folder.meta.json`,
        {
          summary: summary || undefined,
          display_name: display_name ?? name,
          ...(!owners_implied && { owners, extra_perms: withToldRights(owners, extra_perms, extra) }),
        },
        extra,
      ),
    );
}

/** Restores the grants of owners as the folder's file contains them. */
function withToldRights(owners: string[], entries: Permissions, extra: UnknownFields | null): Permissions {
  const told = Object.entries((extra?.extra_perms ?? {}) as Permissions);
  return { ...entries, ...Object.fromEntries(told.filter(([who]) => owners.includes(who))) };
}

export const folderSection: ArchiveSection = {
  tables: [folders],
  domain: "folders",
  entries: listFolderEntries,
};
