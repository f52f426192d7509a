/**
 * Deletes what is too old: completed jobs with their logs and streams, audit rows, cached results, idempotency keys, what
 * features declare, and files of versions that nobody runs. All in small batches with a pause after each, so that whoever
 * else writes waits for milliseconds at most. The leader prunes rows, each process its own files; several servers of one
 * database that prune at once do no harm.
 */

import { sleep } from "../../../lib/async/sleep.ts";
import type { Service } from "../../../lib/async/start-stop.ts";
import type { App } from "../../../platform/app/context.ts";
import { expiredRows } from "../../../platform/loops/expired-rows.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { idempotencyKeys, jobCache } from "../../../platform/queue/tables.ts";
import { expiredAudit } from "./expired-audit.ts";
import { expiredJobs } from "./expired-jobs.ts";

/** After the start, when a server that was down for long has much to let go of, requests come first. */
const FIRST_MS = 5_000;
const INTERVAL_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long unused files stay where jobs are kept for good; elsewhere as long as jobs, and a day at least. */
const FILES_MS = 30 * DAY_MS;

export interface Pruner extends Service {
  /** Resolves when nothing is left to prune, or the signal is aborted. */
  prune(stopping?: AbortSignal): Promise<void>;
}

/** Removes files of this process's runner that nobody has used for long. */
export function createFilePruner(app: App): Pruner {
  async function prune(): Promise<void> {
    const retention_s = app.settings.get("retention_period_secs");
    const unused_ms = retention_s === 0 ? FILES_MS : Math.max(DAY_MS, retention_s * 1000);
    await app.runner.prune(new Date(app.clock().getTime() - unused_ms));
  }
  const task = createPeriodicTask(app, {
    failure: "files of versions that nobody runs could not be removed",
    first_ms: FIRST_MS,
    interval_ms: HOUR_MS,
    run: prune,
  });
  return { start: task.start, stop: task.stop, prune };
}

export function createPruner(app: App): Pruner {
  const { config, db } = app;

  /** Undefined when what is kept for 0 seconds is kept for good. */
  const ago = (now: number, seconds: number) => (seconds === 0 ? undefined : new Date(now - seconds * 1000));

  async function* everything(): AsyncGenerator<void> {
    const now = app.clock().getTime();
    const retention_s = app.settings.get("retention_period_secs");
    const [jobsBefore, auditBefore] = [ago(now, retention_s), ago(now, config.audit_retention_s)];
    if (jobsBefore) yield* expiredJobs(app, jobsBefore);
    if (auditBefore) yield* expiredAudit(db, auditBefore);
    yield* expiredRows(db, jobCache, jobCache.expires_at, new Date(now), jobCache.result);
    yield* expiredRows(db, idempotencyKeys, idempotencyKeys.created_at, new Date(now - DAY_MS));
    for (const { retention } of app.features)
      if (retention) yield* retention.deleteExpired(app, new Date(now));
    while (await db.shrink()) yield;
  }

  async function prune(stopping?: AbortSignal): Promise<void> {
    let began = performance.now();
    for await (const _ of everything()) {
      if (stopping?.aborted) return;
      // At most half of the time, also when each piece takes long because others write.
      await sleep(performance.now() - began, stopping);
      began = performance.now();
    }
  }

  const task = createPeriodicTask(app, {
    of_leader: "pruning",
    failure: "what is too old could not be let go of",
    first_ms: FIRST_MS,
    interval_ms: INTERVAL_MS,
    run: (_now, stopping) => prune(stopping),
  });
  return { start: task.start, stop: task.stop, prune };
}
