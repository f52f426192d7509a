/** The archive of a workspace: the sections that features declare, as far as the caller may have them. */
import { Forbidden } from "../../../lib/errors.ts";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveOptions } from "../../../platform/app/lifecycle.ts";
import { checkScopes } from "../../tenancy/tokens/scopes.ts";

/**
 * The files of the workspace, as far as the caller may read it.
 * @throws Forbidden for settings and key to those who are no admins, and for what a restricted token does not cover
 */
export async function archiveEntries(ctx: WorkspaceContext, options: ArchiveOptions): Promise<ZipEntry[]> {
  const { identity, member } = ctx.caller;
  const sections = ctx.app.features.flatMap(({ archiveSections = [] }) => archiveSections);
  const wanted = sections.filter(({ isWanted }) => isWanted?.(options) ?? true);
  for (const { domain, action = "read", adminOnly } of wanted) {
    checkScopes(identity, { domain, action }, undefined);
    if (adminOnly && !member.is_admin) {
      throw new Forbidden("the settings and the key of a workspace are exported to its admins alone");
    }
  }
  // One after the other: reading secrets in plain writes to the audit log.
  const entries: ZipEntry[] = [];
  for (const section of wanted) entries.push(...(await section.entries(ctx, options)));
  return entries.filter(({ name }) => isPlainName(name));
}

/**
 * Whether a name leads into the folder that an archive is unpacked in, and to no file that tools look for there. Names
 * are checked when things are made; what came here in another way is left out.
 */
function isPlainName(name: string): boolean {
  return name.split("/").every((part) => /^[^.~\\:\p{C}][^\\:\p{C}]*$/u.test(part));
}
