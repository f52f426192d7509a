/** Operations on the dependency map: which scripts and flows import which scripts. */
import * as z from "../../../../lib/zod/z.ts";
import { canRead } from "../../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { listImporters } from "./importers.ts";

const base = "/w/{workspace}/workspaces" as const;

const Kind = z.enum(["script", "flow"]);

/** Returns the imports whose importer and imported script the caller may both read. */
async function listVisibleImporters(ctx: WorkspaceContext, imported?: string[]) {
  const { member } = ctx.caller;
  const rows = await listImporters(ctx.app.db.read, member.workspace_id, imported);
  const maySee = (path: string) => canRead(member, path, {});
  return rows.filter((row) => maySee(row.importer_path) && maySee(row.imported_path));
}

const getDependencyMap = operation({
  name: "getDependencyMap",
  method: "GET",
  path: `${base}/get_dependency_map`,
  access: "member",
  summary: "List which scripts and flows import which scripts, directly or indirectly",
  responds: responds.json(
    z.array(
      z.object({
        workspace_id: z.string(),
        importer_path: z.string(),
        importer_kind: Kind,
        imported_path: z.string(),
        importer_node_id: z.string().nullable(),
      }),
    ),
  ),
  run: async (ctx) => (await listVisibleImporters(ctx)).map((row) => ({ ...row, importer_node_id: null })),
});

export const getDependents = operation({
  name: "getDependents",
  method: "GET",
  path: `${base}/get_dependents/{imported_path}`,
  access: "member",
  summary: "List the scripts and flows that import a script",
  responds: responds.json(
    z.array(
      z.object({
        importer_path: z.string(),
        importer_kind: Kind,
        importer_node_ids: z.array(z.string()).nullable(),
      }),
    ),
  ),
  run: async (ctx, { imported_path }) =>
    (await listVisibleImporters(ctx, [imported_path])).map(({ importer_path, importer_kind }) => ({
      importer_path,
      importer_kind,
      importer_node_ids: null,
    })),
});

export const importerOperations: Operation[] = [getDependencyMap, getDependents];
