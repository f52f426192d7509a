/**
 * Deletes expired data: completed jobs with their logs and streams, audit rows, cached results, idempotency keys,
 * data that features declare, and files of unused versions. It works in small batches with pauses, so that other
 * writers wait for milliseconds at most. The leader prunes rows, and each process its own files; concurrent pruning
 * by several servers does no harm.
 */

import type { Service } from "../../../lib/async/service.ts";
import { sleep } from "../../../lib/async/sleep.ts";
import type { App } from "../../../platform/app/context.ts";
import { deleteExpiredRows } from "../../../platform/loops/expired-rows.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { idempotencyKeys, jobCache } from "../../../platform/queue/tables.ts";
import { deleteExpiredAudit } from "./expired-audit.ts";
import { deleteExpiredJobs } from "./expired-jobs.ts";

/** Delay of the first run, so that a server with a large backlog serves requests first. */
const INITIAL_DELAY_MS = 5_000;
const PRUNE_INTERVAL_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/**
 * How long unused files are kept if jobs are kept forever. Otherwise they are kept as long as jobs, and at least a
 * day.
 */
const UNUSED_FILES_MS = 30 * DAY_MS;

export interface Pruner extends Service {
  /** Prunes until nothing is left, or the signal is aborted. */
  prune(stopping?: AbortSignal): Promise<void>;
}

/** Creates the task that removes unused files of this process's runner. */
export function createFilePruner(app: App): Pruner {
  async function prune(): Promise<void> {
    const retention_s = app.settings.get("retention_period_secs");
    const unused_ms = retention_s === 0 ? UNUSED_FILES_MS : Math.max(DAY_MS, retention_s * 1000);
    await app.runner.prune(new Date(app.clock().getTime() - unused_ms));
  }
  const task = createPeriodicTask(app, {
    failure_message: "files of versions that nobody runs could not be removed",
    first_delay_ms: INITIAL_DELAY_MS,
    interval_ms: HOUR_MS,
    run: prune,
  });
  return { start: task.start, stop: task.stop, prune };
}

export function createPruner(app: App): Pruner {
  const { config, db } = app;

  /** Returns the cutoff; undefined if the retention is 0, which means forever. */
  const ago = (now: number, seconds: number) => (seconds === 0 ? undefined : new Date(now - seconds * 1000));

  async function* everything(): AsyncGenerator<void> {
    const now = app.clock().getTime();
    const retention_s = app.settings.get("retention_period_secs");
    const [jobsBefore, auditBefore] = [ago(now, retention_s), ago(now, config.audit_retention_s)];
    if (jobsBefore) yield* deleteExpiredJobs(app, jobsBefore);
    if (auditBefore) yield* deleteExpiredAudit(db, auditBefore);
    yield* deleteExpiredRows(db, jobCache, jobCache.expires_at, new Date(now), jobCache.result);
    yield* deleteExpiredRows(db, idempotencyKeys, idempotencyKeys.created_at, new Date(now - DAY_MS));
    for (const { retention } of app.features)
      if (retention) yield* retention.deleteExpired(app, new Date(now));
    while (await db.shrink()) yield;
  }

  async function prune(stopping?: AbortSignal): Promise<void> {
    let began = performance.now();
    for await (const _ of everything()) {
      if (stopping?.aborted) return;
      // Pauses as long as the batch took, so pruning uses at most half of the time.
      await sleep(performance.now() - began, stopping);
      began = performance.now();
    }
  }

  const task = createPeriodicTask(app, {
    leader_task: "pruning",
    failure_message: "what is too old could not be let go of",
    first_delay_ms: INITIAL_DELAY_MS,
    interval_ms: PRUNE_INTERVAL_MS,
    run: (_now, stopping) => prune(stopping),
  });
  return { start: task.start, stop: task.stop, prune };
}
