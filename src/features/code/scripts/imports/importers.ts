/** The dependency map: which scripts and flows import a script, and their locking anew when it is deployed. */
import { and, asc, eq, inArray } from "drizzle-orm";
import type { Reader, Tx } from "../../../../database/database.ts";
import { parseFields } from "../../../../lib/json/json.ts";
import { newJobId } from "../../../../lib/text/ids.ts";
import type { App } from "../../../../platform/app/context.ts";
import { insertJob } from "../../../../platform/queue/job-store.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { workspaceMembers } from "../../../tenancy/workspaces/tables.ts";
import { flows } from "../../flows/tables.ts";
import { type Script, scriptImports, scripts } from "../tables.ts";

export type ImporterKind = "script" | "flow";

interface Importer {
  workspace_id: string;
  kind: ImporterKind;
  path: string;
}

/**
 * Stores what the newest version of an importer imports: scripts through others too, and those that were not found, so
 * that it is locked again once they are there.
 */
export async function storeImports(tx: Tx, importer: Importer, paths: string[]): Promise<void> {
  const { workspace_id, kind, path } = importer;
  await tx
    .delete(scriptImports)
    .where(
      and(
        eq(scriptImports.workspace_id, workspace_id),
        eq(scriptImports.importer_kind, kind),
        eq(scriptImports.importer_path, path),
      ),
    );
  if (paths.length === 0) return;
  await tx.insert(scriptImports).values(
    [...new Set(paths)].map((imported_path) => ({
      workspace_id,
      importer_kind: kind,
      importer_path: path,
      imported_path,
    })),
  );
}

/** Who imports the scripts at these paths; of the whole workspace when none are given. */
export function listImporters(db: Reader, workspace_id: string, imported?: string[]) {
  const which = imported && inArray(scriptImports.imported_path, imported);
  return db
    .select()
    .from(scriptImports)
    .where(and(eq(scriptImports.workspace_id, workspace_id), which))
    .orderBy(scriptImports.importer_path, scriptImports.imported_path);
}

/** Whoever has deployed a script: what it imports is read with their rights. */
export interface Deployer {
  created_by: string;
  permissioned_as: string;
  email: string;
}

/**
 * Queues a dependency job for each script and flow that imports the script at this path: what has just been deployed
 * there is then what they run with.
 * @param deployer stands in for importers whose own deployer has left the workspace
 */
export async function relockImporters(
  app: App,
  tx: Tx,
  { workspace_id, path }: Pick<Script, "workspace_id" | "path">,
  deployer: Deployer,
): Promise<void> {
  const importers = await listImporters(tx, workspace_id, [path]);
  if (importers.length === 0) return;
  const pathsOf = (kind: ImporterKind) =>
    importers.filter((each) => each.importer_kind === kind).map((each) => each.importer_path);
  const found = [
    ...(await newestScripts(tx, workspace_id, pathsOf("script"))),
    ...(await readyFlows(tx, workspace_id, pathsOf("flow"))),
  ];
  const names = found.map((each) => each.created_by);
  const emails = new Map(
    (
      await tx
        .select({ username: workspaceMembers.username, email: workspaceMembers.email })
        .from(workspaceMembers)
        .where(
          and(eq(workspaceMembers.workspace_id, workspace_id), inArray(workspaceMembers.username, names)),
        )
    ).map(({ username, email }) => [username, email]),
  );
  for (const { created_by, ...target } of found) {
    const email = emails.get(created_by);
    const who = email === undefined ? deployer : { created_by, permissioned_as: `u/${created_by}`, email };
    await queueRelock(app, tx, workspace_id, target, who, `${path} was deployed`);
  }
  tx.afterCommit(() => app.queue.wake());
}

type Target = Pick<Job, "kind" | "script_path"> &
  Partial<Pick<Job, "script_hash" | "flow_version" | "language">>;

async function newestScripts(
  tx: Tx,
  workspace_id: string,
  paths: string[],
): Promise<(Target & { created_by: string })[]> {
  if (paths.length === 0) return [];
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

async function readyFlows(
  tx: Tx,
  workspace_id: string,
  paths: string[],
): Promise<(Target & { created_by: string })[]> {
  if (paths.length === 0) return [];
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

async function queueRelock(
  app: App,
  tx: Tx,
  workspace_id: string,
  target: Target,
  who: Deployer,
  relock: string,
): Promise<void> {
  const now = app.clock();
  await insertJob(tx, {
    ...target,
    ...who,
    id: newJobId(),
    workspace_id,
    state: "queued",
    created_at: now,
    scheduled_for: now,
    tag: "dependency",
    args: JSON.stringify({ relock }),
    trigger_kind: "deploy",
  });
}

/** Why a job locks a version again that has been locked before; undefined for a first lock. */
export function relockReason({ args }: Pick<Job, "args">): string | undefined {
  return (parseFields(args) as { relock?: string }).relock;
}
