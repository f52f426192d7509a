/**
 * Lets go of what has had its time: completed jobs with their logs and streams, audit rows, cached results, idempotency
 * keys, expired variables, files of versions nobody runs. All in small pieces with a rest after each, so that whoever
 * else writes waits for milliseconds at most. Several servers of one database may prune at once.
 */
import type { App } from "../context.ts";
import { auditLog } from "../features/audit/tables.ts";
import { variables } from "../features/variables/tables.ts";
import { idempotencyKeys, jobCache } from "../queue/tables.ts";
import { expiredAudit, expiredEvents, expiredJobs, expiredRows } from "./expired.ts";

/** After the start, when a server that was down for long has much to let go of, requests come first. */
const FIRST_MS = 5_000;
const EVERY_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long unused files stay where jobs are kept for good; elsewhere as long as jobs, and a day at least. */
const FILES_MS = 30 * DAY_MS;

export interface Pruner {
  start(): void;
  /** One round: returns when nothing is left to let go of, or the pruner is stopped. */
  prune(): Promise<void>;
  stop(): Promise<void>;
}

export function createPruner(app: App): Pruner {
  const { config, db } = app;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let round: Promise<void> = Promise.resolve();
  let stopping = false;
  /** When unused files were last looked for. */
  let lookedAt = Number.NEGATIVE_INFINITY;

  /** Undefined when what is kept for 0 seconds is kept for good. */
  const ago = (now: number, seconds: number) => (seconds === 0 ? undefined : new Date(now - seconds * 1000));

  async function* everything(): AsyncGenerator<void> {
    const now = app.clock().getTime();
    const retention_s = app.settings.get("retention_period_secs");
    const [jobsBefore, auditBefore] = [ago(now, retention_s), ago(now, config.audit_retention_s)];
    if (jobsBefore) yield* expiredJobs(db, jobsBefore);
    if (auditBefore) yield* expiredAudit(db, auditLog, auditBefore);
    yield* expiredRows(db, jobCache, jobCache.expires_at, new Date(now), jobCache.result);
    yield* expiredRows(db, idempotencyKeys, idempotencyKeys.created_at, new Date(now - DAY_MS));
    yield* expiredRows(db, variables, variables.expires_at, new Date(now), variables.value);
    const eventsBefore = new Date(now - Math.max(DAY_MS, config.webhook_retention_s * 1000));
    yield* expiredEvents(db, eventsBefore);
    while (await db.shrink()) yield;
    if (now - lookedAt < HOUR_MS) return;
    lookedAt = now;
    const unused = retention_s === 0 ? FILES_MS : Math.max(DAY_MS, retention_s * 1000);
    await app.runner.prune(new Date(now - unused));
  }

  async function prune(): Promise<void> {
    let began = performance.now();
    for await (const _ of everything()) {
      if (stopping) return;
      // At most half of the time, also when each piece takes long because others write.
      await new Promise((resolve) => setTimeout(resolve, performance.now() - began));
      began = performance.now();
    }
  }

  function schedule(in_ms: number): void {
    timer = setTimeout(() => {
      round = prune()
        .catch((cause) => app.log.warn({ error: String(cause) }, "what is too old could not be let go of"))
        .then(() => {
          if (!stopping) schedule(EVERY_MS);
        });
    }, in_ms);
  }

  return {
    start: () => schedule(FIRST_MS),
    prune,
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await round;
    },
  };
}
