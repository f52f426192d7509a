/**
 * The archive of a workspace: the sections that features declare, limited to what the caller may read. Each kind of
 * item that clients keep in repositories declares a section (`archiveSections`) with the scopes that a restricted
 * token needs. `svc pull` and `svc push` (cli/sync) read the same archive: read/canonical.ts compares items,
 * read/files.ts writes them, and deploy/deploy.ts calls the operation that changes one.
 */
import { BadRequest, Forbidden } from "../../../lib/errors.ts";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveOptions, ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { requireNoOperation } from "../../tenancy/resumable/service.ts";
import { requireScope } from "../../tenancy/tokens/scopes.ts";
import { readCurrentKey } from "../../tenancy/workspaces/secrets.ts";

/**
 * Returns the files of the workspace that the caller may read.
 * @throws Forbidden for settings and key unless the caller is an admin, and if a restricted token's scopes do not
 * suffice; BadRequest for encrypted secrets if the key is being rotated, or was rotated while they were read
 */
export async function createArchiveEntries(
  ctx: WorkspaceContext,
  options: ArchiveOptions,
): Promise<ZipEntry[]> {
  const { identity, member } = ctx.caller;
  const sections = ctx.app.features.flatMap(({ archiveSections = [] }) => archiveSections);
  const wanted = sections.filter(({ isWanted }) => isWanted?.(options) ?? true);
  const requireScopeOf = ({ domain, action }: ArchiveSection) =>
    requireScope(identity, { domain, action: action ?? "read" }, undefined);
  for (const section of wanted) {
    if (!section.needsScope) requireScopeOf(section);
    if (section.adminOnly && !member.is_admin) {
      throw new Forbidden("the settings and the key of a workspace are exported only to its admins");
    }
  }
  const key = options.plain_secrets ? undefined : await readSettledKey(ctx.app, member.workspace_id);
  // Sequential, because reading plain secrets writes audit rows.
  const entries: ZipEntry[] = [];
  for (const section of wanted) {
    const files = await section.entries(ctx, options);
    if (files.length > 0) requireScopeOf(section);
    entries.push(...files);
  }
  if (key !== undefined && key !== (await readSettledKey(ctx.app, member.workspace_id))) {
    throw new BadRequest(
      `the key of workspace ${member.workspace_id} was replaced while its archive was being created: request the archive again`,
    );
  }
  return entries.filter(({ name }) => isSafeName(name));
}

/**
 * Returns the wrapped key, which every rotation replaces: if it is the same before and after a read, everything read
 * is encrypted with one key.
 * @throws BadRequest while a rotation, or another operation on the workspace, is unfinished
 */
async function readSettledKey(app: App, workspace_id: string): Promise<string> {
  await requireNoOperation(app.db.read, workspace_id);
  return (await readCurrentKey(app, app.db.read, workspace_id)).wrapped;
}

/**
 * Whether a file name stays inside the extraction folder and is not a dotfile that tools interpret. Names are
 * validated when items are created; rows with other names are skipped.
 */
function isSafeName(name: string): boolean {
  return name.split("/").every((part) => /^[^.~\\:\p{C}][^\\:\p{C}]*$/u.test(part));
}
