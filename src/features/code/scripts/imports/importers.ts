/**
 * The dependency map: which scripts and flows import a script. Importers are relocked when that script is deployed.
 */
import { and, eq, inArray } from "drizzle-orm";
import type { Reader, Tx } from "../../../../database/database.ts";
import { parseSchemaJson } from "../../../../lib/json/json.ts";
import { createUuid } from "../../../../lib/text/ids.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { Importers, RelockTarget } from "../../../../platform/app/importers.ts";
import { insertJob } from "../../../../platform/queue/job-store.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { requireOpenWorkspace } from "../../../tenancy/workspaces/gate.ts";
import { workspaceMembers } from "../../../tenancy/workspaces/tables.ts";
import { type Script, scriptImports } from "../tables.ts";

interface Importer {
  workspace_id: string;
  kind: Importers["kind"];
  path: string;
}

/**
 * Stores the imports of an importer's newest version, transitive ones included. Missing scripts are stored too, so that
 * the importer is relocked once they exist.
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

/** Lists the importers of these scripts, or all imports of the workspace. */
export function listImporters(db: Reader, workspace_id: string, imported?: string[]) {
  const which = imported && inArray(scriptImports.imported_path, imported);
  return db
    .select()
    .from(scriptImports)
    .where(and(eq(scriptImports.workspace_id, workspace_id), which))
    .orderBy(scriptImports.importer_path, scriptImports.imported_path);
}

/** The user who deployed a script; imports are read with their rights. */
export interface Deployer {
  created_by: string;
  permissioned_as: string;
  email: string;
}

/**
 * Queues a dependency job for each script and flow that imports the script at this path, so that they use the newly
 * deployed version.
 * @param deployer replaces an importer's own deployer who has left the workspace
 * @throws BadRequest if the workspace is closed and there are importers
 */
export async function relockImporters(
  app: App,
  tx: Tx,
  { workspace_id, path }: Pick<Script, "workspace_id" | "path">,
  deployer: Deployer,
): Promise<void> {
  const importers = await listImporters(tx, workspace_id, [path]);
  if (importers.length === 0) return;
  const found: RelockTarget[] = [];
  for (const { importers: each } of app.features) {
    const paths = importers
      .filter(({ importer_kind }) => importer_kind === each?.kind)
      .map(({ importer_path }) => importer_path);
    if (each && paths.length > 0) found.push(...(await each.relockTargets(tx, workspace_id, paths)));
  }
  if (found.length === 0) return;
  await requireOpenWorkspace(app, tx, workspace_id);
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

async function queueRelock(
  app: App,
  tx: Tx,
  workspace_id: string,
  target: Omit<RelockTarget, "created_by">,
  who: Deployer,
  relock: string,
): Promise<void> {
  const now = app.clock();
  await insertJob(tx, {
    ...target,
    ...who,
    id: createUuid(),
    workspace_id,
    state: "queued",
    created_at: now,
    scheduled_for: now,
    tag: "dependency",
    args: JSON.stringify({ relock }),
    trigger_kind: "deploy",
  });
}

/** Returns why a version is being locked again; undefined for its first lock. */
export function formatRelockReason({ args }: Pick<Job, "args">): string | undefined {
  return (parseSchemaJson(args) as { relock?: string }).relock;
}
