import { and, asc, eq, inArray } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import type { Importers, RelockTarget } from "../../../../platform/app/importers.ts";
import { scripts } from "../tables.ts";

/**
 * Lists the newest versions of the scripts at these paths. They are locked again when a script that they import is
 * deployed.
 */
async function listNewestScripts(tx: Tx, workspace_id: string, paths: string[]): Promise<RelockTarget[]> {
  const rows = await tx
    .select({
      path: scripts.path,
      hash: scripts.hash,
      language: scripts.language,
      created_by: scripts.created_by,
    })
    .from(scripts)
    .where(
      and(
        eq(scripts.workspace_id, workspace_id),
        inArray(scripts.path, paths),
        eq(scripts.deleted, false),
        eq(scripts.archived, false),
        eq(scripts.draft_only, false),
      ),
    )
    .orderBy(asc(scripts.seq));
  const newest = new Map(rows.map((row) => [row.path, row]));
  return [...newest.values()].map(({ path, hash, language, created_by }) => ({
    kind: "dependencies",
    script_path: path,
    script_hash: hash,
    language,
    created_by,
  }));
}

export const importingScripts: Importers = { kind: "script", relockTargets: listNewestScripts };
