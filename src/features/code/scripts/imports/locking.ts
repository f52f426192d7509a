/** A version gets its lock: what its dependency job found is stored, and who imports it is locked again. */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { runtimeOf } from "../../../../engines/languages/languages.ts";
import { BadRequest } from "../../../../lib/errors.ts";
import { sha256 } from "../../../../lib/text/ids.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { refuseClosed } from "../../../tenancy/workspaces/gate.ts";
import { type PinnedImport, type Script, scripts } from "../tables.ts";
import { findLatest, findVersion, forgetScript, toRunnable } from "../versions.ts";
import { type Deployer, relockImporters, storeImports } from "./importers.ts";
import { loadImports } from "./imports.ts";

/** What a dependency job found: the lock and the imports, or why there are none. */
export type LockOutcome =
  | { lock: string; imports: PinnedImport[] }
  | {
      error: string;
      /** Paths that are imported and not there. */
      missing?: string[];
    };

/** How the message of a version begins that differs from the one before in its lock and imports alone. */
const RELOCKED = "locked again: ";

type LockJob = Pick<Job, "workspace_id" | "script_hash" | "created_by" | "permissioned_as" | "email">;

/** Stores how the locking of a version ended. A version that could run already is superseded when anything differs. */
export async function settleLock(
  app: App,
  tx: Tx,
  job: LockJob,
  outcome: LockOutcome,
  reason?: string,
): Promise<void> {
  const row = await findVersion(tx, job.workspace_id, job.script_hash ?? "");
  if (!row) return;
  if (row.ready) {
    if ("lock" in outcome) await supersede(app, tx, row, outcome, job, reason);
    return;
  }
  const isLocked = "lock" in outcome;
  const set = isLocked
    ? { lock: outcome.lock, imports: pinsOf(outcome), ready: true, lock_error_logs: null }
    : { lock_error_logs: outcome.error };
  await tx
    .update(scripts)
    .set(set)
    .where(and(eq(scripts.workspace_id, row.workspace_id), eq(scripts.hash, row.hash)));
  await noteImports(tx, row, isLocked ? outcome.imports.map(({ path }) => path) : (outcome.missing ?? []));
  if (isLocked) {
    const relock = await isOpen(app, tx, row.workspace_id);
    await noteDeployed(app, tx, { ...row, ...set } as Script, job, { relock });
  } else tx.afterCommit(() => forgetScript(app, row.workspace_id, row.path, row.hash));
}

/** A job that ends while its workspace closes keeps its lock; what would be queued there is left out. */
async function isOpen(app: App, tx: Tx, workspace_id: string): Promise<boolean> {
  try {
    await refuseClosed(app, tx, workspace_id);
    return true;
  } catch (cause) {
    if (cause instanceof BadRequest) return false;
    throw cause;
  }
}

/** Another version with the same content, locked against what is there now. */
async function supersede(
  app: App,
  tx: Tx,
  row: Script,
  found: { lock: string; imports: PinnedImport[] },
  job: LockJob,
  reason: string | undefined,
): Promise<void> {
  const latest = await findLatest(tx, row.workspace_id, row.path);
  const imports = pinsOf(found);
  const isSame = row.lock === found.lock && Bun.deepEquals(row.imports, imports);
  // Somebody has deployed meanwhile: that version is locked by itself.
  if (latest?.hash !== row.hash || row.archived || isSame) return;
  const { seq: _, ...copy } = row;
  const parent_hashes = [row.hash, ...row.parent_hashes];
  const hash = sha256(JSON.stringify([parent_hashes, found])).slice(0, 16);
  const deployment_message = `${RELOCKED}${reason ?? "an imported script was deployed"}`;
  const next = {
    ...copy,
    ...found,
    imports,
    hash,
    parent_hashes,
    deployment_message,
    created_at: app.clock(),
  };
  await tx.insert(scripts).values(next);
  await noteImports(
    tx,
    row,
    found.imports.map(({ path }) => path),
  );
  await noteDeployed(app, tx, next as Script, job, { relock: false });
}

/** Whether all that has come since this version is its being locked again: then nobody has deployed in between. */
export async function isOnlyRelocked(tx: Tx, live: Script, since: string): Promise<boolean> {
  const at = live.parent_hashes.indexOf(since);
  if (at < 0) return false;
  for (const hash of [live.hash, ...live.parent_hashes.slice(0, at)]) {
    const row = await findVersion(tx, live.workspace_id, hash);
    if (!row?.deployment_message?.startsWith(RELOCKED)) return false;
  }
  return true;
}

function pinsOf({ imports }: { imports: PinnedImport[] }): PinnedImport[] | null {
  return imports.length > 0 ? imports : null;
}

function noteImports(tx: Tx, { workspace_id, path }: Script, paths: string[]): Promise<void> {
  return storeImports(tx, { workspace_id, kind: "script", path }, paths);
}

/**
 * To be called in the transaction that makes a version the one that runs: whoever imports the script is locked again.
 * @param relock false when only what it imports has changed: its importers import that as well
 */
export async function noteDeployed(
  app: App,
  tx: Tx,
  row: Pick<Script, "workspace_id" | "path" | "hash">,
  deployer: Deployer,
  { relock = true } = {},
): Promise<void> {
  if (relock) await relockImporters(app, tx, row, deployer);
  tx.afterCommit(() => {
    forgetScript(app, row.workspace_id, row.path, row.hash);
    void warmUp(app, row);
  });
}

/** The first call should find the files in place; a failure here shows again, and is told, when the script is run. */
async function warmUp(
  app: App,
  { workspace_id, path, hash }: Pick<Script, "workspace_id" | "path" | "hash">,
) {
  try {
    const row = await findVersion(app.db.read, workspace_id, hash);
    if (!row?.ready || !runtimeOf(row.language)) return;
    const imports = row.imports ? await loadImports(app, workspace_id, row.imports) : undefined;
    await app.runner.prepare({ ...toRunnable(row), imports });
  } catch (cause) {
    app.log.warn({ path, hash, error: String(cause) }, "a script could not be prepared ahead");
  }
}
