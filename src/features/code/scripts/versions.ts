/** Which version a path or a hash stands for: asked on every run, so answered from memory when it was asked before. */
import { and, desc, eq, type SQL } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import type { RunnableLanguage } from "../../../engines/languages/languages.ts";
import { runtimeOf } from "../../../engines/languages/languages.ts";
import type { RunnableVersion } from "../../../engines/runner/types.ts";
import { Cache } from "../../../lib/async/cache.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { NotFound } from "../../../lib/errors.ts";
import { NotReady, NotRunnable } from "../../../platform/access/permissions.ts";
import type { App } from "../../../platform/app/context.ts";
import { forgottenEverywhere } from "../../../platform/cluster/cache-invalidation.ts";
import { passwordFields } from "./password-fields.ts";
import type { SignatureRule } from "./signature-rule.ts";
import { type PinnedImport, type Script, scripts } from "./tables.ts";

/** What running a version needs to know, and nothing else of the row. */
export interface Deployed {
  /** Without the sources that it imports. */
  version: RunnableVersion;
  /** What it imports; undefined for nothing. */
  pins: PinnedImport[] | undefined;
  hash: string;
  path: string;
  tag: string;
  timeout_s: number | undefined;
  priority: number;
  kind: string;
  visible_to_runner_only: boolean;
  concurrency: { limit: number; window_s: number; key: string | undefined } | undefined;
  cache_ttl: number | undefined;
  delete_after_use: boolean;
  restart_unless_cancelled: boolean;
  on_behalf_of_email: string | undefined;
  created_by: string;
  extra_perms: Record<string, boolean>;
  /** Names of the arguments that are not stored in plain. */
  passwords: string[];
  /** How a request to its webhooks must be signed. */
  signature: SignatureRule | undefined;
}

const MAX_CACHED = 10_000;

const cacheOf = perApp((_: App) => ({
  byPath: new Cache<Deployed>({ max: MAX_CACHED }),
  byHash: new Cache<Deployed>({ max: MAX_CACHED }),
}));

const key = (workspace_id: string, name: string) => `${workspace_id}\n${name}`;

/** Forgets what was remembered of a script; called after a commit that changed it. */
export const forgetScript = forgottenEverywhere<[workspace_id: string, path: string, hash?: string]>(
  "script",
  {
    forget(app, workspace_id, path, hash) {
      const { byPath, byHash } = cacheOf(app);
      byPath.delete(key(workspace_id, path));
      if (hash) byHash.delete(key(workspace_id, hash));
    },
    forgetAll,
  },
);

/** Forgets what was remembered of all versions at a path. */
export const forgetScriptAt = forgottenEverywhere<[workspace_id: string, path: string]>("script path", {
  forget(app, workspace_id, path) {
    const { byHash, byPath } = cacheOf(app);
    byPath.delete(key(workspace_id, path));
    byHash.deleteWhere((_, { version }) => version.path === path && version.workspace_id === workspace_id);
  },
  forgetAll,
});

/** Forgets all scripts of a workspace; called after a commit that moved or shared some. */
export const forgetScripts = forgottenEverywhere<[workspace_id: string]>("scripts", {
  forget(app, workspace_id) {
    for (const cache of Object.values(cacheOf(app))) {
      cache.deleteWhere((name) => name.startsWith(key(workspace_id, "")));
    }
  },
  forgetAll,
});

function forgetAll(app: App): void {
  for (const cache of Object.values(cacheOf(app))) cache.clear();
}

/**
 * The newest version of a path that is ready to run.
 * @throws NotFound when there is no such script; BadRequest when it has no version that can run, saying why
 */
export function deployedByPath(app: App, workspace_id: string, path: string): Deployed | Promise<Deployed> {
  const { byPath } = cacheOf(app);
  const name = key(workspace_id, path);
  return byPath.get(name) ?? byPath.load(name, () => loadByPath(app, workspace_id, path));
}

/**
 * The version with this hash, superseded ones included.
 * @throws NotFound, or BadRequest when it cannot run
 */
export function deployedByHash(app: App, workspace_id: string, hash: string): Deployed | Promise<Deployed> {
  const { byHash } = cacheOf(app);
  const name = key(workspace_id, hash);
  return byHash.get(name) ?? byHash.load(name, () => loadByHash(app, workspace_id, hash));
}

async function loadByPath(app: App, workspace_id: string, path: string): Promise<Deployed> {
  const row = await findLive(app.db.read, workspace_id, path, eq(scripts.ready, true));
  if (!row) throw await whyNotRunnable(app.db.read, workspace_id, path);
  return toDeployed(row);
}

async function loadByHash(app: App, workspace_id: string, hash: string): Promise<Deployed> {
  const row = await findVersion(app.db.read, workspace_id, hash);
  if (!row || row.deleted) throw new NotFound(`script with hash ${hash} in workspace ${workspace_id}`);
  if (row.archived) throw archived(row);
  if (!row.ready) throw notReady(row);
  return toDeployed(row);
}

/** The row of one version, whatever its state. */
export async function findVersion(
  db: Reader,
  workspace_id: string,
  hash: string,
): Promise<Script | undefined> {
  const [row] = await db
    .select()
    .from(scripts)
    .where(and(eq(scripts.workspace_id, workspace_id), eq(scripts.hash, hash)));
  return row;
}

/** The newest row of a path, whatever its state. */
export async function findLatest(
  db: Reader,
  workspace_id: string,
  path: string,
): Promise<Script | undefined> {
  const [row] = await db
    .select()
    .from(scripts)
    .where(and(eq(scripts.workspace_id, workspace_id), eq(scripts.path, path), eq(scripts.deleted, false)))
    .orderBy(desc(scripts.seq))
    .limit(1);
  return row;
}

/** The newest version of a path that is not archived; ready or not, unless `that` asks for more. */
export async function findLive(
  db: Reader,
  workspace_id: string,
  path: string,
  that?: SQL,
): Promise<Script | undefined> {
  const live = and(eq(scripts.deleted, false), eq(scripts.archived, false), that);
  const [row] = await db
    .select()
    .from(scripts)
    .where(and(eq(scripts.workspace_id, workspace_id), eq(scripts.path, path), live))
    .orderBy(desc(scripts.seq))
    .limit(1);
  return row;
}

async function whyNotRunnable(db: Reader, workspace_id: string, path: string): Promise<Error> {
  const live = await findLive(db, workspace_id, path);
  if (live) return notReady(live);
  const latest = await findLatest(db, workspace_id, path);
  return latest ? archived(latest) : new NotFound(`script ${path} in workspace ${workspace_id}`);
}

function archived(row: Script): NotRunnable {
  const { path, workspace_id } = row;
  return new NotRunnable(`script ${path} in workspace ${workspace_id} is archived and cannot be run`, row);
}

function notReady(row: Script): NotRunnable {
  if (row.draft_only) return new NotRunnable(`script ${row.path} is a draft, and was never deployed`, row);
  const why = row.lock_error_logs
    ? `its dependencies could not be resolved: ${row.lock_error_logs}`
    : "its dependencies are still being resolved";
  return new NotReady(`version ${row.hash} of script ${row.path} cannot run: ${why}`, row);
}

export function toRunnable(row: Script): RunnableVersion {
  return {
    id: row.hash,
    workspace_id: row.workspace_id,
    path: row.path,
    language: (runtimeOf(row.language) ?? row.language) as RunnableLanguage,
    content: row.bundle ?? row.content,
    lock: row.lock ?? undefined,
    parameters: row.parameters,
    preprocessor_parameters: row.preprocessor_parameters ?? undefined,
    envs: row.envs,
    isolation: row.isolation,
    memory_mb: row.memory_mb ?? undefined,
  };
}

function toDeployed(row: Script): Deployed {
  return {
    version: toRunnable(row),
    pins: row.imports ?? undefined,
    hash: row.hash,
    path: row.path,
    tag: row.tag ?? row.language,
    timeout_s: row.timeout || undefined,
    priority: row.priority ?? 0,
    kind: row.kind,
    visible_to_runner_only: row.visible_to_runner_only,
    concurrency: row.concurrent_limit
      ? {
          limit: row.concurrent_limit,
          window_s: row.concurrency_time_window_s ?? 0,
          key: row.concurrency_key ?? undefined,
        }
      : undefined,
    cache_ttl: row.cache_ttl || undefined,
    delete_after_use: row.delete_after_use,
    restart_unless_cancelled: row.restart_unless_cancelled,
    on_behalf_of_email: row.on_behalf_of_email ?? undefined,
    created_by: row.created_by,
    extra_perms: row.extra_perms,
    passwords: passwordFields(row.schema),
    signature: row.signature ?? undefined,
  };
}
