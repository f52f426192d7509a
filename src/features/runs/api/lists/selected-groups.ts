/** Groups jobs by script or flow, with argument schemas, so that they can be run again with other arguments. */
import { and, eq, type SQL } from "drizzle-orm";
import * as z from "../../../../lib/zod/z.ts";
import { canRead } from "../../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { isScriptRun } from "../../../../platform/queue/states.ts";
import { flows, flowVersions } from "../../../code/flows/tables.ts";
import type { Script } from "../../../code/scripts/tables.ts";
import { findLiveScript, findScriptVersion } from "../../../code/scripts/versions.ts";
import { lightColumns } from "../../job/records.ts";
import { canReadJob } from "../../submit/job-rights.ts";
import { readRows } from "./job-scan.ts";

export const JobGroup = z.object({
  kind: z.enum(["script", "flow"]),
  script_path: z.string(),
  /** Schema of the current version; undefined if there is none, or the caller may not read it. */
  latest_schema: z.unknown().optional(),
  schemas: z.array(
    z.object({ script_hash: z.string(), job_ids: z.array(z.string()), schema: z.unknown().optional() }),
  ),
});
export type JobGroup = z.output<typeof JobGroup>;

type TargetKind = JobGroup["kind"];
/** Job ids by version: a script's hash, or a flow's version number. */
type JobsByVersion = Map<string, string[]>;

/** Groups the jobs that ran a deployed script or flow and that the caller may see. */
export async function groupJobsByTarget(
  ctx: WorkspaceContext,
  workspace: string,
  ids: readonly string[],
): Promise<JobGroup[]> {
  const found = { script: new Map<string, JobsByVersion>(), flow: new Map<string, JobsByVersion>() };
  for (const job of await readRows(ctx.app, lightColumns, [...new Set(ids)])) {
    const { script_path } = job;
    const kind = isScriptRun(job.kind) ? "script" : job.kind;
    if (job.workspace_id !== workspace || script_path === null || !canReadJob(ctx.caller, job)) continue;
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
      groups.push(await createGroup(kind, path, byVersion, schemas));
    }
  }
  return groups;
}

interface SchemaReader {
  /** Undefined if there is none, or the caller may not read it. */
  of: (path: string, version: string) => Promise<unknown>;
  latest: (path: string) => Promise<unknown>;
}

async function createGroup(
  kind: TargetKind,
  path: string,
  byVersion: JobsByVersion,
  { of, latest }: SchemaReader,
) {
  const schemas: JobGroup["schemas"] = [];
  for (const [version, job_ids] of byVersion) {
    // A flow's version number is formatted like a script's hash.
    const script_hash = kind === "script" ? version : Number(version).toString(16).padStart(16, "0");
    schemas.push({ script_hash, job_ids, schema: await of(path, version) });
  }
  return { kind, script_path: path, latest_schema: await latest(path), schemas };
}

function scriptSchemas({ app, caller }: WorkspaceContext): SchemaReader {
  const { workspace_id } = caller.member;
  const schemaOf = (script: Script | undefined) =>
    script && canRead(caller.member, script.path, script.extra_perms) ? script.schema : undefined;
  return {
    of: async (_, hash) => schemaOf(await findScriptVersion(app.db.read, workspace_id, hash)),
    latest: async (path) => schemaOf(await findLiveScript(app.db.read, workspace_id, path)),
  };
}

function flowSchemas({ app, caller }: WorkspaceContext): SchemaReader {
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
