/** Results that serve later runs: the same version, arguments and identity within `cache_ttl` seconds run once. */
import { and, eq, gt } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { isContainer, parseJson } from "../../../lib/json/json.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { type Job, jobCache } from "../../../platform/queue/tables.ts";

/** The stored result of an earlier run, JSON text. */
export async function cachedResult(app: App, job: Job): Promise<string | undefined> {
  if (!isCacheable(job)) return undefined;
  const [row] = await app.db.read
    .select({ result: jobCache.result })
    .from(jobCache)
    .where(and(eq(jobCache.key, keyOf(job)), gt(jobCache.expires_at, app.clock())));
  return row?.result;
}

/** Keeps a result for later runs. */
export async function cacheResult(app: App, tx: Tx, job: Job, result: string): Promise<void> {
  if (!isCacheable(job)) return;
  const expires_at = new Date(app.clock().getTime() + (job.cache_ttl ?? 0) * 1000);
  const row = { key: keyOf(job), workspace_id: job.workspace_id, result, expires_at };
  await tx.insert(jobCache).values(row).onConflictDoUpdate({ target: jobCache.key, set: row });
}

/** What is deleted after use is kept nowhere. */
function isCacheable(job: Job): boolean {
  return codeOf(job) !== undefined && !job.delete_after_use;
}

/** Which code runs; undefined for what is not deployed, which changes from run to run, and for half a run of a flow. */
function codeOf({
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

/** Larger arguments are the same where their texts are: they are not put in order on the thread that serves requests. */
const MAX_SORTED = 1_000_000;

/**
 * The identity counts: what a script may read decides what it returns. So does for how long a run asks a result to serve:
 * one that asks for longer than others is not answered to them.
 */
function keyOf(job: Job): string {
  const { workspace_id, permissioned_as, cache_ttl, args, preprocessor_input } = job;
  // A preprocessor makes main's arguments of its own input.
  const given = preprocessor_input ?? args;
  const canonical = given.length > MAX_SORTED ? given : JSON.stringify(sorted(parseJson(given)));
  return sha256(JSON.stringify([workspace_id, codeOf(job), permissioned_as, cache_ttl, canonical]));
}

function sorted(value: unknown): unknown {
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}
