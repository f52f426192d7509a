/** Jobs grouped by the script or flow they ran: what a person needs to see before they are run again with other arguments. */
import { and, eq, type SQL } from "drizzle-orm";
import { z } from "zod";
import { canRead } from "../../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { flows, flowVersions } from "../../../code/flows/tables.ts";
import type { Script } from "../../../code/scripts/tables.ts";
import { findLive, findVersion } from "../../../code/scripts/versions.ts";
import { lightColumns } from "../../job/records.ts";
import { mayRead } from "../../submit/service.ts";
import { rowsOf } from "./job-scan.ts";

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

type Kind = JobGroup["kind"];
/** What ran, by its version: the hash of a script, the number of a flow's version. */
type ByVersion = Map<string, string[]>;

/** Groups those of the jobs that ran a deployed script or flow and that the caller may see. */
export async function groupsOf(
  ctx: WorkspaceContext,
  workspace: string,
  ids: readonly string[],
): Promise<JobGroup[]> {
  const found = { script: new Map<string, ByVersion>(), flow: new Map<string, ByVersion>() };
  for (const job of await rowsOf(ctx.app, lightColumns, [...new Set(ids)])) {
    const { kind, script_path } = job;
    if (job.workspace_id !== workspace || script_path === null || !mayRead(ctx.caller, job)) continue;
    if (kind !== "script" && kind !== "flow") continue;
    const version = kind === "script" ? job.script_hash : job.flow_version;
    if (version === null) continue;
    const byVersion = getOrMake(found[kind], script_path, () => new Map<string, string[]>());
    getOrMake(byVersion, String(version), () => []).push(job.id);
  }
  const groups: JobGroup[] = [];
  for (const kind of ["script", "flow"] as const) {
    const schemas = kind === "script" ? scriptSchemas(ctx) : flowSchemas(ctx);
    for (const [path, byVersion] of found[kind]) {
      groups.push(await groupOf(kind, path, byVersion, schemas));
    }
  }
  return groups;
}

interface Schemas {
  /** Undefined where there is none, or the caller may not read it. */
  of: (path: string, version: string) => Promise<unknown>;
  latest: (path: string) => Promise<unknown>;
}

async function groupOf(kind: Kind, path: string, byVersion: ByVersion, { of, latest }: Schemas) {
  const schemas: JobGroup["schemas"] = [];
  for (const [version, job_ids] of byVersion) {
    // The number of a flow's version is written as the hash of a script is.
    const script_hash = kind === "script" ? version : Number(version).toString(16).padStart(16, "0");
    schemas.push({ script_hash, job_ids, schema: await of(path, version) });
  }
  return { kind, script_path: path, latest_schema: await latest(path), schemas };
}

function scriptSchemas({ app, caller }: WorkspaceContext): Schemas {
  const { workspace_id } = caller.member;
  const schemaOf = (script: Script | undefined) =>
    script && canRead(caller.member, script.path, script.extra_perms) ? script.schema : undefined;
  return {
    of: async (_, hash) => schemaOf(await findVersion(app.db.read, workspace_id, hash)),
    latest: async (path) => schemaOf(await findLive(app.db.read, workspace_id, path)),
  };
}

function flowSchemas({ app, caller }: WorkspaceContext): Schemas {
  const { read } = app.db;
  const its = (path: string) => and(eq(flows.workspace_id, caller.member.workspace_id), eq(flows.path, path));
  const schemaOf = async (path: string, which: SQL) => {
    const [row] = await read
      .select({ schema: flowVersions.schema, extra_perms: flows.extra_perms })
      .from(flows)
      .innerJoin(
        flowVersions,
        and(eq(flowVersions.workspace_id, flows.workspace_id), eq(flowVersions.path, flows.path)),
      )
      .where(and(its(path), which));
    return row && canRead(caller.member, path, row.extra_perms) ? row.schema : undefined;
  };
  return {
    of: (path, version) => schemaOf(path, eq(flowVersions.id, Number(version))),
    latest: (path) => schemaOf(path, eq(flowVersions.id, flows.ready_version)),
  };
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
