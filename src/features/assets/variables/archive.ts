/** Variables in the archive of a workspace. */
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveOptions, ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { jsonEntry, unlessFalse } from "../../tenancy/rights/archive-entry.ts";
import { variables } from "../variable-tables.ts";
import { listVariables, readValue } from "./service.ts";
import { Unreadable } from "./value.ts";

/** What is gone by its own date is not taken along: it is renewed, or gone, where it is. */
async function variableEntries(
  ctx: WorkspaceContext,
  { plain_secrets, skip_secrets }: ArchiveOptions,
): Promise<ZipEntry[]> {
  const rows = await listVariables(ctx, { page: 1, per_page: Number.MAX_SAFE_INTEGER });
  const kept = rows.filter((row) => row.expires_at === null && !(skip_secrets && row.is_secret));
  const entries: ZipEntry[] = [];
  for (const row of kept) {
    const { path, is_secret, description, account, is_oauth } = row;
    const value = plain_secrets ? await plainOr(row.value, readValue(ctx, row)) : row.value;
    const fields = { value, is_secret, description, account, is_oauth: unlessFalse(is_oauth) };
    entries.push(jsonEntry(`${path}.variable.json`, fields));
  }
  return entries;
}

/** What no key here opens stays sealed as it came. */
async function plainOr(sealed: string, plain: Promise<string>): Promise<string> {
  return plain.catch((cause) => {
    if (cause instanceof Unreadable) return sealed;
    throw cause;
  });
}

export const variableSection: ArchiveSection = {
  tables: [variables],
  domain: "variables",
  isWanted: (options) => !options.skip_variables,
  entries: variableEntries,
};
