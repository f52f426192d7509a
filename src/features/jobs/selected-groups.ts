/** Jobs grouped by the script they ran: what a person needs to see before they are run again with other arguments. */
import { z } from "zod";
import type { WorkspaceContext } from "../../context.ts";
import { canRead } from "../permissions.ts";
import type { Script } from "../scripts/tables.ts";
import { findLive, findVersion } from "../scripts/versions.ts";
import { lightColumns } from "./records.ts";
import { mayRead } from "./service.ts";
import { rowsOf } from "./walk.ts";

export const JobGroup = z.object({
  kind: z.enum(["script", "flow"]),
  script_path: z.string(),
  /** Of the version that runs now; absent when there is none, or the caller may not read it. */
  latest_schema: z.unknown().optional(),
  schemas: z.array(
    z.object({ script_hash: z.string(), job_ids: z.array(z.string()), schema: z.unknown().optional() }),
  ),
});
export type JobGroup = z.output<typeof JobGroup>;

/** Groups those of the jobs that ran a deployed script and that the caller may see. */
export async function groupsOf(
  ctx: WorkspaceContext,
  workspace: string,
  ids: readonly string[],
): Promise<JobGroup[]> {
  const byPath = new Map<string, Map<string, string[]>>();
  for (const job of await rowsOf(ctx.app, lightColumns, [...new Set(ids)])) {
    if (job.workspace_id !== workspace || job.kind !== "script" || !mayRead(ctx.caller, job)) continue;
    const byHash = getOrMake(byPath, job.script_path ?? "", () => new Map<string, string[]>());
    getOrMake(byHash, job.script_hash ?? "", () => []).push(job.id);
  }
  const { read } = ctx.app.db;
  const schemaOf = (script: Script | undefined) =>
    script && canRead(ctx.caller.member, script.path, script.extra_perms) ? script.schema : undefined;
  const groups: JobGroup[] = [];
  for (const [script_path, byHash] of byPath) {
    const schemas: JobGroup["schemas"] = [];
    for (const [script_hash, job_ids] of byHash) {
      const schema = schemaOf(await findVersion(read, workspace, script_hash));
      schemas.push({ script_hash, job_ids, schema });
    }
    const latest_schema = schemaOf(await findLive(read, workspace, script_path));
    groups.push({ kind: "script", script_path, latest_schema, schemas });
  }
  return groups;
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
