/**
 * Secrets already disclosed to running jobs. Their audit row is durable, so reading one again need not wait for the
 * disk.
 */

import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import type { Variable } from "../variable-tables.ts";

/** The oldest entries are evicted; reading such a secret again waits for the disk. */
const MAX_CACHED = 10_000;

/** The decrypted ciphertext, by job and path. */
const disclosedSecrets = memoizePerApp((_: App) => new Cache<string>({ max: MAX_CACHED }));

const cacheKey = (job_id: string, { path }: Variable) => `${job_id} ${path}`;

export function wasDisclosed(app: App, job_id: string, row: Variable): boolean {
  return disclosedSecrets(app).get(cacheKey(job_id, row)) === row.value;
}

export function recordDisclosure(app: App, job_id: string, row: Variable): void {
  disclosedSecrets(app).set(cacheKey(job_id, row), row.value);
}
