/** The key in the archive of a workspace. */
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { currentKey } from "../../tenancy/workspaces/secrets.ts";

const KEY_READ = { operation: "workspaces.get_encryption_key", action_kind: "Execute" } as const;

/** The key in plain. Reading it leaves an audit row. */
async function keyEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { workspace_id } = ctx.caller.member;
  const { text } = await ctx.write({ resource: workspace_id, as: KEY_READ }, (tx) =>
    currentKey(ctx.app, tx, workspace_id),
  );
  return [{ name: "encryption_key.json", content: JSON.stringify(text) }];
}

export const keySection: ArchiveSection = {
  tables: [],
  domain: "workspaces",
  // As the operation that reads the key: whoever has it opens all that is encrypted.
  action: "write",
  isWanted: (options) => options.include_key,
  adminOnly: true,
  entries: keyEntries,
};
