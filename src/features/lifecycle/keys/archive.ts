/** The key in the archive of a workspace. */
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { readCurrentKey } from "../../tenancy/workspaces/secrets.ts";

const KEY_READ_AUDIT = { operation: "workspaces.get_encryption_key", action_kind: "Execute" } as const;

/** Exports the encryption key as plain text, and records the access in the audit log. */
async function listKeyEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { workspace_id } = ctx.caller.member;
  const { text } = await ctx.write({ resource: workspace_id, action: KEY_READ_AUDIT }, (tx) =>
    readCurrentKey(ctx.app, tx, workspace_id),
  );
  return [{ name: "encryption_key.json", content: JSON.stringify(text) }];
}

export const keySection: ArchiveSection = {
  tables: [],
  domain: "workspaces",
  // The same action as of the operation that reads the key: the key decrypts all secrets.
  action: "write",
  isWanted: (options) => options.include_key,
  adminOnly: true,
  entries: listKeyEntries,
};
