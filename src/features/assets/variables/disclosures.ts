/** Which secrets running jobs have been told: that they have is on disk already when they ask again. */

import { Cache } from "../../../lib/async/cache.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import type { Variable } from "../variable-tables.ts";

/** The oldest are forgotten, which costs a job that asks again no more than the first time. */
const MAX_TOLD = 10_000;

/** By job and path: the sealed text that was opened. */
const toldOf = perApp((_: App) => new Cache<string>({ max: MAX_TOLD }));

const key = (job_id: string, { path }: Variable) => `${job_id} ${path}`;

export function wasTold(app: App, job_id: string, row: Variable): boolean {
  return toldOf(app).get(key(job_id, row)) === row.value;
}

export function rememberTold(app: App, job_id: string, row: Variable): void {
  toldOf(app).set(key(job_id, row), row.value);
}
