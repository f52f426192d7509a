/** Groups in the archive of a workspace. */
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { EVERYONE_GROUP } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { groupMembers, groups } from "../../tenancy/people/group-tables.ts";
import { createJsonEntry } from "../../tenancy/rights/archive-entry.ts";
import { listGroupMembers, listGroups } from "./groups.ts";

/** Exports groups. A manager who is also a member is listed under `admins` only. */
async function listGroupEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const exported = (await listGroups(ctx)).filter(({ name }) => name !== EVERYONE_GROUP);
  return Promise.all(
    exported.map(async ({ name, summary, extra_perms }) => {
      const all = (await listGroupMembers(ctx, name)).map((username) => `u/${username}`);
      const isAdmin = (who: string) => extra_perms[who] === true;
      const fields = {
        summary,
        members: all.filter((who) => !isAdmin(who)),
        admins: all.filter(isAdmin).sort(),
      };
      return createJsonEntry(`groups/${name}.group.json`, fields);
    }),
  );
}

export const groupSection: ArchiveSection = {
  tables: [groups, groupMembers],
  domain: "groups",
  isWanted: (options) => options.include_groups,
  entries: listGroupEntries,
};
