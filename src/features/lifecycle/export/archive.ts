/**
 * The archive of a workspace: the sections that features declare, as far as the caller may have them.
 *
 * A kind of item that clients keep in repositories declares its section (`archiveSections`), with the scopes that a
 * restricted token needs. `svc pull` and `svc push` (cli/sync) read the same archive: read/canonical.ts compares items,
 * read/files.ts writes them, deploy/deploy.ts calls the operation that changes one.
 */
import { Forbidden } from "../../../lib/errors.ts";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveOptions } from "../../../platform/app/lifecycle.ts";
import { requireScope } from "../../tenancy/tokens/scopes.ts";
import { requireNoOperation } from "../resumable/service.ts";

/**
 * Returns the files of the workspace that the caller may read.
 * @throws Forbidden for settings and key unless the caller is an admin, and if a restricted token's scopes do not
 * suffice; BadRequest for encrypted secrets while the key is being exchanged
 */
export async function archiveEntries(ctx: WorkspaceContext, options: ArchiveOptions): Promise<ZipEntry[]> {
  const { identity, member } = ctx.caller;
  const sections = ctx.app.features.flatMap(({ archiveSections = [] }) => archiveSections);
  const wanted = sections.filter(({ isWanted }) => isWanted?.(options) ?? true);
  for (const { domain, action = "read", adminOnly } of wanted) {
    requireScope(identity, { domain, action }, undefined);
    if (adminOnly && !member.is_admin) {
      throw new Forbidden("the settings and the key of a workspace are exported to its admins alone");
    }
  }
  if (!options.plain_secrets) await requireNoOperation(ctx.app.db.read, member.workspace_id);
  // Sequential, because reading plain secrets writes audit rows.
  const entries: ZipEntry[] = [];
  for (const section of wanted) entries.push(...(await section.entries(ctx, options)));
  return entries.filter(({ name }) => isSafeName(name));
}

/**
 * Returns whether a file name stays inside the extraction folder and is not a dotfile that tools interpret. Names are
 * validated when items are created; rows written in other ways are skipped.
 */
function isSafeName(name: string): boolean {
  return name.split("/").every((part) => /^[^.~\\:\p{C}][^\\:\p{C}]*$/u.test(part));
}
