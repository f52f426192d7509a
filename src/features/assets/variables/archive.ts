/** Variables in the archive of a workspace. */
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveOptions, ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { createJsonEntry, omitFalse } from "../../tenancy/rights/archive-entry.ts";
import { variables } from "../variable-tables.ts";
import { listVariables, readVariableValue } from "./service.ts";
import { UnreadableSecret } from "./value.ts";

/** Exports variables. Those with an expiry are left out, because the instance renews or deletes them. */
async function listVariableEntries(
  ctx: WorkspaceContext,
  { plain_secrets, skip_secrets }: ArchiveOptions,
): Promise<ZipEntry[]> {
  const rows = await listVariables(ctx, { page: 1, per_page: Number.MAX_SAFE_INTEGER });
  const kept = rows.filter((row) => row.expires_at === null && !(skip_secrets && row.is_secret));
  const entries: ZipEntry[] = [];
  for (const row of kept) {
    const { path, is_secret, description, account, is_oauth, extra } = row;
    const value = plain_secrets ? await plainTextOr(row.value, readVariableValue(ctx, row)) : row.value;
    const fields = { value, is_secret, description, account, is_oauth: omitFalse(is_oauth) };
    entries.push(createJsonEntry(`${path}.variable.json`, fields, extra));
  }
  return entries;
}

/** Returns the plain text, or the encrypted text if no key of this instance decrypts it. */
async function plainTextOr(sealed: string, plain: Promise<string>): Promise<string> {
  return plain.catch((cause) => {
    if (cause instanceof UnreadableSecret) return sealed;
    throw cause;
  });
}

export const variableSection: ArchiveSection = {
  tables: [variables],
  domain: "variables",
  isWanted: (options) => !options.skip_variables,
  entries: listVariableEntries,
};
