/** Completes the locking of a script version: stores the dependency job's result and relocks importers. */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { findRuntime } from "../../../../engines/languages/languages.ts";
import { BadRequest, NotFound } from "../../../../lib/errors.ts";
import { sha256 } from "../../../../lib/text/ids.ts";
import { NotRunnable } from "../../../../platform/access/permissions.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { requireOpenWorkspace } from "../../../tenancy/workspaces/gate.ts";
import { type PinnedImport, type Script, scripts } from "../tables.ts";
import {
  findLatestScript,
  findScriptVersion,
  getDeployedScriptByHash,
  getDeployedScriptByPath,
  invalidateScript,
  withImports,
} from "../versions.ts";
import { type Deployer, relockImporters, storeImports } from "./importers.ts";
import { loadImports } from "./imports.ts";

/** The result of a dependency job: lock and imports, or the error. */
export type LockOutcome =
  | { lock: string; imports: PinnedImport[] }
  | {
      error: string;
      /** Paths of its imports, including missing scripts: it is locked again when one of them is deployed. */
      imports?: string[];
    };

/** Prefix of the deployment message of a version that differs from its predecessor only in lock and imports. */
const RELOCKED_PREFIX = "locked again: ";

type LockJob = Pick<Job, "workspace_id" | "script_hash" | "created_by" | "permissioned_as" | "email">;

/**
 * Stores the result of a version's dependency job. If the version could already run and the lock differs, a new
 * version is inserted.
 */
export async function completeLock(
  app: App,
  tx: Tx,
  job: LockJob,
  outcome: LockOutcome,
  reason?: string,
): Promise<void> {
  const row = await findScriptVersion(tx, job.workspace_id, job.script_hash ?? "");
  if (!row) return;
  if (row.ready) {
    if ("lock" in outcome) await insertRelockedVersion(app, tx, row, outcome, job, reason);
    return;
  }
  const isLocked = "lock" in outcome;
  const set = isLocked
    ? { lock: outcome.lock, imports: pinsOrNull(outcome), ready: true, lock_error_logs: null }
    : { lock_error_logs: outcome.error };
  await tx
    .update(scripts)
    .set(set)
    .where(and(eq(scripts.workspace_id, row.workspace_id), eq(scripts.hash, row.hash)));
  await storeScriptImports(
    tx,
    row,
    isLocked ? outcome.imports.map(({ path }) => path) : (outcome.imports ?? []),
  );
  if (isLocked) {
    const relock = await isOpen(app, tx, row.workspace_id);
    await announceVersionReady(app, tx, { ...row, ...set } as Script, job, { relock });
  } else tx.afterCommit(() => invalidateScript(app, row.workspace_id, row.path, row.hash));
}

/**
 * Whether the workspace accepts jobs. While it is being closed, the lock is still stored, but no further jobs are
 * queued.
 */
async function isOpen(app: App, tx: Tx, workspace_id: string): Promise<boolean> {
  try {
    await requireOpenWorkspace(app, tx, workspace_id);
    return true;
  } catch (cause) {
    if (cause instanceof BadRequest) return false;
    throw cause;
  }
}

/** Inserts a version with the same content and a new lock. */
async function insertRelockedVersion(
  app: App,
  tx: Tx,
  row: Script,
  found: { lock: string; imports: PinnedImport[] },
  job: LockJob,
  reason: string | undefined,
): Promise<void> {
  const latest = await findLatestScript(tx, row.workspace_id, row.path);
  const imports = pinsOrNull(found);
  const isSame = row.lock === found.lock && Bun.deepEquals(row.imports, imports);
  // If another version was deployed in the meantime, it has its own lock.
  if (latest?.hash !== row.hash || row.archived || isSame) return;
  const { seq: _, ...copy } = row;
  const parent_hashes = [row.hash, ...row.parent_hashes];
  const hash = sha256(JSON.stringify([parent_hashes, found])).slice(0, 16);
  const deployment_message = `${RELOCKED_PREFIX}${reason ?? "an imported script was deployed"}`;
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
  await storeScriptImports(
    tx,
    row,
    found.imports.map(({ path }) => path),
  );
  await announceVersionReady(app, tx, next as Script, job, { relock: false });
}

/** Whether all versions since `since` are automatic relocks, so that no user deployed in between. */
export async function isOnlyRelocked(tx: Tx, live: Script, since: string): Promise<boolean> {
  const at = live.parent_hashes.indexOf(since);
  if (at < 0) return false;
  for (const hash of [live.hash, ...live.parent_hashes.slice(0, at)]) {
    const row = await findScriptVersion(tx, live.workspace_id, hash);
    if (!row?.deployment_message?.startsWith(RELOCKED_PREFIX)) return false;
  }
  return true;
}

function pinsOrNull({ imports }: { imports: PinnedImport[] }): PinnedImport[] | null {
  return imports.length > 0 ? imports : null;
}

function storeScriptImports(tx: Tx, { workspace_id, path }: Script, paths: string[]): Promise<void> {
  return storeImports(tx, { workspace_id, kind: "script", path }, paths);
}

/**
 * Relocks importers and warms up the version. Call it in the transaction that makes a version the one that runs.
 * @param relock false if only its imports have changed, since its importers import those as well
 */
export async function announceVersionReady(
  app: App,
  tx: Tx,
  row: Pick<Script, "workspace_id" | "path" | "hash">,
  deployer: Deployer,
  { relock = true } = {},
): Promise<void> {
  if (relock) await relockImporters(app, tx, row, deployer);
  tx.afterCommit(() => {
    invalidateScript(app, row.workspace_id, row.path, row.hash);
    void warmUp(app, row);
  });
}

/**
 * Prepares the files before the first call, and looks the script up as that call will. A failure is only logged, since
 * running the script reports it again.
 */
async function warmUp(
  app: App,
  { workspace_id, path, hash }: Pick<Script, "workspace_id" | "path" | "hash">,
) {
  try {
    const script = await getDeployedScriptByHash(app, workspace_id, hash);
    if (!findRuntime(script.language)) return;
    await getDeployedScriptByPath(app, workspace_id, path);
    const imports = script.pins && (await loadImports(app, workspace_id, script.pins));
    await app.runner.prepare(imports ? withImports(script, imports) : script.version);
  } catch (cause) {
    // It was deleted, archived or renamed meanwhile.
    if (cause instanceof NotFound || cause instanceof NotRunnable) return;
    app.log.warn({ path, hash, error: String(cause) }, "a script could not be prepared ahead");
  }
}
