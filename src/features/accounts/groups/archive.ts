/** Groups in the archive of a workspace. */
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { EVERYBODY } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { groupMembers, groups } from "../../tenancy/people/group-tables.ts";
import { jsonEntry } from "../../tenancy/rights/archive-entry.ts";
import { listGroups, membersOf } from "./groups.ts";

/** Who manages a group and is in it stands among its admins alone. */
async function groupEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const exported = (await listGroups(ctx)).filter(({ name }) => name !== EVERYBODY);
  return Promise.all(
    exported.map(async ({ name, summary, extra_perms }) => {
      const all = (await membersOf(ctx, name)).map((username) => `u/${username}`);
      const isAdmin = (who: string) => extra_perms[who] === true;
      const fields = {
        summary,
        members: all.filter((who) => !isAdmin(who)),
        admins: all.filter(isAdmin).sort(),
      };
      return jsonEntry(`groups/${name}.group.json`, fields);
    }),
  );
}

export const groupSection: ArchiveSection = {
  tables: [groups, groupMembers],
  domain: "groups",
  isWanted: (options) => options.include_groups,
  entries: groupEntries,
};
