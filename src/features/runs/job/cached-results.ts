/** Result cache: runs with the same version, arguments and identity within `cache_ttl` seconds share one result. */
import { and, eq, gt } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { isContainer, parseJson } from "../../../lib/json/json.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { type Job, jobCache } from "../../../platform/queue/tables.ts";

/** Finds the cached result of an earlier run, as JSON text. */
export async function findCachedResult(app: App, job: Job): Promise<string | undefined> {
  if (!isCacheable(job)) return undefined;
  const [row] = await app.db.read
    .select({ result: jobCache.result })
    .from(jobCache)
    .where(and(eq(jobCache.key, cacheKey(job)), gt(jobCache.expires_at, app.clock())));
  return row?.result;
}

/** Stores a result in the cache. */
export async function storeCachedResult(app: App, tx: Tx, job: Job, result: string): Promise<void> {
  if (!isCacheable(job)) return;
  const expires_at = new Date(app.clock().getTime() + (job.cache_ttl ?? 0) * 1000);
  const row = { key: cacheKey(job), workspace_id: job.workspace_id, result, expires_at };
  await tx.insert(jobCache).values(row).onConflictDoUpdate({ target: jobCache.key, set: row });
}

/** Whether the result may be cached. Jobs with `delete_after_use` may not. */
function isCacheable(job: Job): boolean {
  return codeKey(job) !== undefined && !job.delete_after_use;
}

/** Returns the code's part of the key; undefined for undeployed code, and for a flow that starts in the middle. */
function codeKey({
  kind,
  script_hash,
  flow_version,
  flow_step_id,
  raw_code,
  flow_body,
}: Job): string | undefined {
  if (script_hash !== null) return script_hash;
  if (flow_version === null || flow_body !== null) return undefined;
  if (kind === "flow") return `flow ${flow_version}`;
  return kind === "flowscript" && raw_code === null ? `flow ${flow_version} ${flow_step_id}` : undefined;
}

/** Longer arguments are compared as text: sorting their keys would block the thread that serves requests. */
const MAX_SORTED_CHARS = 1_000_000;

/**
 * Returns the cache key. It contains the identity, because a script's rights decide what it returns, and `cache_ttl`:
 * runs that allow older results than others do not share with them.
 */
function cacheKey(job: Job): string {
  const { workspace_id, permissioned_as, cache_ttl, args, preprocessor_input } = job;
  // A preprocessor creates main's arguments from its own input.
  const given = preprocessor_input ?? args;
  const canonical = given.length > MAX_SORTED_CHARS ? given : JSON.stringify(sortKeys(parseJson(given)));
  return sha256(JSON.stringify([workspace_id, codeKey(job), permissioned_as, cache_ttl, canonical]));
}

function sortKeys(value: unknown): unknown {
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sortKeys(inner)]),
  );
}
