/**
 * Resumable operations use many small transactions instead of a long one, so that other writers do not wait. The
 * first transaction stores the operation, which is then always completed: if the process stops, the next start
 * resumes it, or on PostgreSQL another server does. Every step must therefore be idempotent.
 */
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { createUuid } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { listOtherLiveWorkers } from "../../../platform/cluster/heartbeat.ts";
import { resumableOperations } from "./tables.ts";

type OperationRow = typeof resumableOperations.$inferSelect;

interface OperationKind<D, R> {
  /** Restores in-memory state, such as a closed gate, at startup before any job runs. */
  hold: (app: App, details: D) => void;
  /** Does the remaining steps; may be called again after an interruption. */
  finish: (app: App, details: D) => Promise<R>;
}

export interface Resumable<D, R> {
  /**
   * Stores the operation in the caller's transaction. Call `run` after the commit.
   * @throws BadRequest if another operation on the same subject is unfinished
   */
  start(app: App, tx: Tx, subject: string, details: D): Promise<OperationRow>;
  /** Runs the operation to completion. If it throws, the row stays and the operation is retried later. */
  run(app: App, row: OperationRow): Promise<R>;
}

const operationKinds = new Map<string, OperationKind<never, unknown>>();
/** Operations this process is running, by id. */
const runningOperations = memoizePerApp<App, Map<string, Promise<unknown>>>(() => new Map());

/** Declares a kind of resumable operation. @param kind its name in the database */
export function defineResumable<D extends object, R = void>(
  kind: string,
  how: OperationKind<D, R>,
): Resumable<D, R> {
  operationKinds.set(kind, how as OperationKind<never, unknown>);
  return {
    async start(app, tx, subject, details) {
      await requireNoOperation(tx, subject);
      const row = {
        id: createUuid(),
        kind,
        subject,
        details: details as Record<string, unknown>,
        server: app.queue.worker,
        created_at: app.clock(),
      };
      // Another server may be storing one at this moment, which the check above cannot see.
      const [stored] = await tx.insert(resumableOperations).values(row).onConflictDoNothing().returning();
      if (!stored) throw new BadRequest(isUnderWay("another operation", subject));
      return stored;
    },
    run: (app, row) => runOperation(app, row) as Promise<R>,
  };
}

/** Rejects a second operation on the same subject. @throws BadRequest if an operation on the subject is unfinished */
export async function requireNoOperation(db: Reader, subject: string): Promise<void> {
  const [row] = await db
    .select({ kind: resumableOperations.kind })
    .from(resumableOperations)
    .where(eq(resumableOperations.subject, subject));
  if (row) throw new BadRequest(isUnderWay(row.kind, subject));
}

const isUnderWay = (what: string, subject: string) =>
  `${what} of ${subject} is still under way: try again when it is done`;

function runOperation(app: App, row: OperationRow): Promise<unknown> {
  const running = runningOperations(app);
  const going =
    running.get(row.id) ??
    (async () => {
      try {
        const result = await operationKinds.get(row.kind)!.finish(app, row.details as never);
        await app.db.write((tx) => tx.delete(resumableOperations).where(eq(resumableOperations.id, row.id)));
        return result;
      } finally {
        running.delete(row.id);
      }
    })();
  running.set(row.id, going);
  return going;
}

/**
 * Restores the in-memory state of unfinished operations of earlier processes. Call it at startup, before anything runs.
 */
export async function restoreUnfinished(app: App): Promise<void> {
  for (const { kind, details } of await app.db.read.select().from(resumableOperations)) {
    operationKinds.get(kind)?.hold(app, details as never);
  }
}

/** Resumes operations that no live server is running. @throws AggregateError of those that failed */
export async function resumeAbandoned(app: App): Promise<void> {
  const rows = await app.db.read.select().from(resumableOperations);
  if (rows.length === 0) return;
  const others = await listOtherLiveWorkers(app);
  const lease_ms = app.db.channel ? app.config.lease_s * 1000 : 0;
  const failures: unknown[] = [];
  for (const row of rows) {
    const { server, created_at } = row;
    const isYoung = app.clock().getTime() - created_at.getTime() < lease_ms;
    if (!operationKinds.has(row.kind) || others.includes(server) || runningOperations(app).has(row.id))
      continue;
    if (server !== app.queue.worker && (isYoung || !(await claimOperation(app, row)))) continue;
    app.log.warn({ kind: row.kind, subject: row.subject }, "resuming an interrupted operation");
    await runOperation(app, row).catch((cause) => failures.push(cause));
  }
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join("; "));
}

/** Claims an abandoned operation for this server. @returns false if another server was first */
async function claimOperation(app: App, { id, server }: OperationRow): Promise<boolean> {
  const { id: key, server: holder } = resumableOperations;
  const taken = await app.db.write((tx) =>
    tx
      .update(resumableOperations)
      .set({ server: app.queue.worker })
      .where(and(eq(key, id), eq(holder, server)))
      .returning({ id: key }),
  );
  return taken.length > 0;
}
