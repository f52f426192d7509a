/**
 * Operations that take many small transactions instead of one large one, so that nobody else waits for them. The first
 * transaction stores what is to be done; whatever becomes of the process, that is finished: by the next start, on
 * PostgreSQL by another server. So each step must be one that may be done again.
 */
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { newJobId } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { othersAlive } from "../../../platform/cluster/heartbeat.ts";
import { resumableOperations } from "./tables.ts";

type Row = typeof resumableOperations.$inferSelect;

interface Kind<D> {
  /** What must hold from the first moment of a process on, before anything runs there. */
  hold: (app: App, details: D) => void;
  /** Does what is left to do. */
  finish: (app: App, details: D) => Promise<void>;
}

export interface Resumable<D> {
  /**
   * Stores that it is to be done, in its first transaction. `run` follows after the commit.
   * @throws BadRequest while another one has to do with the same subject
   */
  begin(app: App, tx: Tx, subject: string, details: D): Promise<Row>;
  /** Does it to its end. What it throws does not end it: it is tried again. */
  run(app: App, row: Row): Promise<void>;
}

const kinds = new Map<string, Kind<never>>();
/** What this process is at, by id. */
const runningOf = perApp<App, Map<string, Promise<void>>>(() => new Map());

/** Declares a kind of operation. @param kind names it in the database */
export function resumable<D extends object>(kind: string, how: Kind<D>): Resumable<D> {
  kinds.set(kind, how as Kind<never>);
  return {
    async begin(app, tx, subject, details) {
      await refuseUnfinished(tx, subject);
      const row = {
        id: newJobId(),
        kind,
        subject,
        details: details as Record<string, unknown>,
        server: app.queue.worker,
        created_at: app.clock(),
      };
      await tx.insert(resumableOperations).values(row);
      return row;
    },
    run,
  };
}

/** @throws BadRequest while an operation on it is under way */
export async function refuseUnfinished(db: Reader, subject: string): Promise<void> {
  const [row] = await db
    .select({ kind: resumableOperations.kind })
    .from(resumableOperations)
    .where(eq(resumableOperations.subject, subject));
  if (row) throw new BadRequest(`${row.kind} of ${subject} is still under way: try again when it is done`);
}

function run(app: App, row: Row): Promise<void> {
  const running = runningOf(app);
  const going =
    running.get(row.id) ??
    (async () => {
      try {
        await kinds.get(row.kind)!.finish(app, row.details as never);
        await app.db.write((tx) => tx.delete(resumableOperations).where(eq(resumableOperations.id, row.id)));
      } finally {
        running.delete(row.id);
      }
    })();
  running.set(row.id, going);
  return going;
}

/** What must hold of operations that an earlier process has not finished; called before anything runs. */
export async function holdUnfinished(app: App): Promise<void> {
  for (const { kind, details } of await app.db.read.select().from(resumableOperations)) {
    kinds.get(kind)?.hold(app, details as never);
  }
}

/** Finishes what nobody is at any more. @throws AggregateError of what could not be finished */
export async function finishAbandoned(app: App): Promise<void> {
  const rows = await app.db.read.select().from(resumableOperations);
  if (rows.length === 0) return;
  const others = await othersAlive(app);
  const lease_ms = app.db.channel ? app.config.lease_s * 1000 : 0;
  const failures: unknown[] = [];
  for (const row of rows) {
    const { server, created_at } = row;
    const isYoung = app.clock().getTime() - created_at.getTime() < lease_ms;
    if (!kinds.has(row.kind) || others.includes(server) || runningOf(app).has(row.id)) continue;
    if (server !== app.queue.worker && (isYoung || !(await takeOver(app, row)))) continue;
    app.log.warn({ kind: row.kind, subject: row.subject }, "an operation that was cut off is being finished");
    await run(app, row).catch((cause) => failures.push(cause));
  }
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join("; "));
}

/** @returns false when another server was first */
async function takeOver(app: App, { id, server }: Row): Promise<boolean> {
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
