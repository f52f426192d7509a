/** Resolves paths and hashes to deployed scripts. Every run needs it, so results are cached. */

import { and, desc, eq, type SQL } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import type { RunnableLanguage } from "../../../engines/languages/languages.ts";
import { findRuntimeOfCode } from "../../../engines/languages/programs/table.ts";
import type { ImportedScript, RunnableVersion } from "../../../engines/runner/types.ts";
import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { NotFound } from "../../../lib/errors.ts";
import { BeingPrepared, NotReady, NotRunnable } from "../../../platform/access/permissions.ts";
import type { App } from "../../../platform/app/context.ts";
import { defineInvalidation } from "../../../platform/cluster/cache-invalidation.ts";
import { findAtEitherPath } from "../../tenancy/people/renamings.ts";
import { listPasswordFields } from "./password-fields.ts";
import type { SignatureSettings } from "./signature-rule.ts";
import { type PinnedImport, type Script, scripts } from "./tables.ts";

/** The part of a script version that running it needs. */
export interface DeployedScript {
  /** Without the sources of its imports. */
  version: RunnableVersion;
  /** As it was deployed; `version.language` is what runs its own code. */
  language: string;
  /** Its pinned imports; undefined for none. */
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
  /** The JSON Schema that arguments of a call must match; undefined if they are not checked. */
  argument_schema: Record<string, unknown> | undefined;
  /** Names of password arguments, which are stored encrypted. */
  passwords: string[];
  /** How a request to its webhooks must be signed. */
  signature: SignatureSettings | undefined;
}

/** Weights in characters, since sources and locks may have megabytes; a script has some other fields beside them. */
const MAX_CACHED_CHARACTERS = 30_000_000;
const OTHER_CHARACTERS = 2_000;

const scriptCaches = memoizePerApp((_: App) => {
  const weigh = (_: string, { version: { content, lock = "" } }: DeployedScript) =>
    content.length + lock.length + OTHER_CHARACTERS;
  const createCache = () => new Cache<DeployedScript>({ max: MAX_CACHED_CHARACTERS, weigh });
  return { byPath: createCache(), byHash: createCache() };
});

const cacheKey = (workspace_id: string, name: string) => `${workspace_id}\n${name}`;

/** Invalidates a script; call it after a commit that changed it. */
export const invalidateScript = defineInvalidation<[workspace_id: string, path: string, hash?: string]>(
  "script",
  {
    forget(app, workspace_id, path, hash) {
      const { byPath, byHash } = scriptCaches(app);
      byPath.delete(cacheKey(workspace_id, path));
      if (hash) byHash.delete(cacheKey(workspace_id, hash));
    },
    forgetAll: invalidateAll,
  },
);

/** Invalidates all versions of a path. */
export const invalidateScriptPath = defineInvalidation<[workspace_id: string, path: string]>("script path", {
  forget(app, workspace_id, path) {
    const { byHash, byPath } = scriptCaches(app);
    byPath.delete(cacheKey(workspace_id, path));
    byHash.deleteWhere((_, { version }) => version.path === path && version.workspace_id === workspace_id);
  },
  forgetAll: invalidateAll,
});

/** Invalidates all scripts of a workspace; call it after a commit that renamed some or changed their acl. */
export const invalidateScripts = defineInvalidation<[workspace_id: string]>("scripts", {
  forget(app, workspace_id) {
    for (const cache of Object.values(scriptCaches(app))) {
      cache.deleteWhere((name) => name.startsWith(cacheKey(workspace_id, "")));
    }
  },
  forgetAll: invalidateAll,
});

function invalidateAll(app: App): void {
  for (const cache of Object.values(scriptCaches(app))) cache.clear();
}

/**
 * Returns the newest version of a path that can run.
 * @throws NotFound for an unknown script; BadRequest if no version can run, saying why
 */
export function getDeployedScriptByPath(
  app: App,
  workspace_id: string,
  path: string,
): DeployedScript | Promise<DeployedScript> {
  const { byPath } = scriptCaches(app);
  const name = cacheKey(workspace_id, path);
  return byPath.get(name) ?? byPath.load(name, () => loadByPath(app, workspace_id, path));
}

/** Returns the newest version of a path that can run, if it is cached. */
export function getCachedScriptByPath(
  app: App,
  workspace_id: string,
  path: string,
): DeployedScript | undefined {
  return scriptCaches(app).byPath.get(cacheKey(workspace_id, path));
}

/** Returns the version with this hash, including superseded ones. @throws NotFound, or BadRequest if it cannot run */
export function getDeployedScriptByHash(
  app: App,
  workspace_id: string,
  hash: string,
): DeployedScript | Promise<DeployedScript> {
  const { byHash } = scriptCaches(app);
  const name = cacheKey(workspace_id, hash);
  return byHash.get(name) ?? byHash.load(name, () => loadByHash(app, workspace_id, hash));
}

async function loadByPath(app: App, workspace_id: string, path: string): Promise<DeployedScript> {
  const row = await findAtEitherPath(app, workspace_id, path, (path) =>
    findLiveScript(app.db.read, workspace_id, path, eq(scripts.ready, true)),
  );
  if (!row) throw await createNotRunnableError(app.db.read, workspace_id, path);
  return toDeployedScript(row);
}

async function loadByHash(app: App, workspace_id: string, hash: string): Promise<DeployedScript> {
  const row = await findScriptVersion(app.db.read, workspace_id, hash);
  if (!row || row.deleted) throw new NotFound(`script with hash ${hash} in workspace ${workspace_id}`);
  if (row.archived) throw createArchivedError(row);
  if (!row.ready) throw createNotReadyError(row);
  return toDeployedScript(row);
}

/** Finds a version, in any state. */
export async function findScriptVersion(
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

/** Finds the newest version of a path, in any state but deleted. */
export async function findLatestScript(
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

/** Finds the newest version of a path that is not archived. @param that a further condition, such as being ready */
export async function findLiveScript(
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

async function createNotRunnableError(db: Reader, workspace_id: string, path: string): Promise<Error> {
  const live = await findLiveScript(db, workspace_id, path);
  if (live) return createNotReadyError(live);
  const latest = await findLatestScript(db, workspace_id, path);
  return latest ? createArchivedError(latest) : new NotFound(`script ${path} in workspace ${workspace_id}`);
}

function createArchivedError(row: Script): NotRunnable {
  const { path, workspace_id } = row;
  return new NotRunnable(`script ${path} in workspace ${workspace_id} is archived and cannot be run`, row);
}

function createNotReadyError(row: Script): NotRunnable {
  if (row.draft_only) return new NotRunnable(`script ${row.path} is a draft, and was never deployed`, row);
  const what = `version ${row.hash} of script ${row.path} cannot run`;
  return row.lock_error_logs
    ? new NotReady(`${what}: ${describeLockError(row.lock_error_logs, "its dependencies")}`, row)
    : new BeingPrepared(`${what}: its dependencies are still being resolved`, row);
}

/**
 * Describes why the dependencies of a script could not be resolved.
 * @param whose the dependencies that the job was to resolve
 */
export function describeLockError(message: string, whose: string): string {
  return /\bSyntax error at line \d/.test(message) ? message : `${whose} could not be resolved: ${message}`;
}

/** Returns the version of a script with the sources of its imports, which may need another runtime. */
export function withImports(
  { version, language }: DeployedScript,
  imports: ImportedScript[],
): RunnableVersion {
  const runtime = findRuntimeOfCode(language, version.content, imports);
  return { ...version, imports, language: runtime ?? version.language };
}

function toRunnableVersion(row: Script): RunnableVersion {
  const content = row.bundle ?? row.content;
  return {
    id: row.hash,
    workspace_id: row.workspace_id,
    path: row.path,
    language: (findRuntimeOfCode(row.language, content) ?? row.language) as RunnableLanguage,
    content,
    lock: row.lock ?? undefined,
    parameters: row.parameters,
    preprocessor_parameters: row.preprocessor_parameters ?? undefined,
    envs: row.envs,
    isolation: row.isolation,
    memory_mb: row.memory_mb ?? undefined,
  };
}

function toDeployedScript(row: Script): DeployedScript {
  return {
    version: toRunnableVersion(row),
    language: row.language,
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
    argument_schema: row.validate ? ((row.schema as Record<string, unknown> | null) ?? undefined) : undefined,
    passwords: listPasswordFields(row.schema),
    signature: row.signature ?? undefined,
  };
}
