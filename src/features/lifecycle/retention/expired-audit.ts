/** Deletes old rows of the audit log, in batches. */
import { and, asc, lt, lte } from "drizzle-orm";
import type { Database } from "../../../database/database.ts";
import { type Batches, deleteBatch, MAX_ROWS } from "../../../platform/loops/expired-rows.ts";
import { auditLog } from "../../signals/audit/tables.ts";

/** Deletes old audit rows; their ids grow with time. */
export async function* deleteExpiredAudit(db: Database, before: Date): Batches {
  for (;;) {
    const rows = await db.read
      .select({ id: auditLog.id, timestamp: auditLog.timestamp })
      .from(auditLog)
      .orderBy(asc(auditLog.id))
      .limit(MAX_ROWS);
    const old = rows.filter(({ timestamp }) => timestamp < before);
    if (old.length === 0) return;
    const last = old.at(-1)!.id;
    await deleteBatch(db, (tx) =>
      tx.delete(auditLog).where(and(lte(auditLog.id, last), lt(auditLog.timestamp, before))),
    );
    yield;
    if (old.length < MAX_ROWS) return;
  }
}
