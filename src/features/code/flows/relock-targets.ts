import { and, eq, inArray } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import type { Importers, RelockTarget } from "../../../platform/app/importers.ts";
import { flows } from "./tables.ts";

/**
 * Lists the newest versions of the flows at these paths. They are locked again when a script that their steps import
 * is deployed.
 */
async function newestFlows(tx: Tx, workspace_id: string, paths: string[]): Promise<RelockTarget[]> {
  const rows = await tx
    .select({ path: flows.path, version: flows.version, edited_by: flows.edited_by })
    .from(flows)
    .where(and(eq(flows.workspace_id, workspace_id), inArray(flows.path, paths), eq(flows.archived, false)));
  return rows.map(({ path, version, edited_by }) => ({
    kind: "flowdependencies",
    script_path: path,
    flow_version: version,
    created_by: edited_by,
  }));
}

export const importingFlows: Importers = { kind: "flow", relockTargets: newestFlows };
