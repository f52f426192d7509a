/** Deletes old webhook events with the record of their deliveries, in batches. */
import { and, asc, eq, gt, inArray } from "drizzle-orm";
import type { Database } from "../../../database/database.ts";
import type { Retention } from "../../../platform/app/lifecycle.ts";
import { type Batches, deleteBatch, MAX_ROWS } from "../../../platform/loops/expired-rows.ts";
import { webhookDeliveries, webhookEndpoints, webhookEvents } from "./tables.ts";

const DAY_MS = 24 * 3_600_000;

export const webhookRetention: Retention = {
  tables: [webhookEvents, webhookDeliveries],
  deleteExpired({ db, config }, now) {
    const kept_ms = Math.max(DAY_MS, config.webhook_retention_s * 1000);
    return deleteExpiredEvents(db, new Date(now.getTime() - kept_ms));
  },
};

/** Deletes events, with their deliveries, once every delivery has succeeded or failed for good. */
async function* deleteExpiredEvents(db: Database, before: Date): Batches {
  const { seq, workspace_id, created_at, told } = webhookEvents;
  for (let after = 0; ; ) {
    // Stored in the order of time, so the scan ends at the first event that is not expired.
    const piece = await db.read
      .select({ seq, workspace_id, created_at, told })
      .from(webhookEvents)
      .where(gt(seq, after))
      .orderBy(asc(seq))
      .limit(MAX_ROWS);
    const old = piece.filter((event) => event.created_at < before);
    if (old.length === 0) return;
    await deleteEvents(
      db,
      old.filter((event) => event.told === null),
    );
    yield;
    if (old.length < MAX_ROWS) return;
    after = old.at(-1)!.seq;
  }
}

async function deleteEvents(db: Database, old: { seq: number; workspace_id: string }[]): Promise<void> {
  const places = [...new Set(old.map(({ workspace_id }) => workspace_id))];
  const told = db.read
    .select({ id: webhookEndpoints.id })
    .from(webhookEndpoints)
    .where(inArray(webhookEndpoints.workspace_id, places));
  const { endpoint_id, event_seq, state } = webhookDeliveries;
  const its = (seqs: number[]) => and(inArray(endpoint_id, told), inArray(event_seq, seqs));
  const waiting = await db.read
    .select({ seq: event_seq })
    .from(webhookDeliveries)
    .where(and(its(old.map(({ seq }) => seq)), eq(state, "pending")));
  const kept = new Set(waiting.map(({ seq }) => seq));
  const seqs = old.map(({ seq }) => seq).filter((seq) => !kept.has(seq));
  if (seqs.length === 0) return;
  await deleteBatch(db, async (tx) => {
    await tx.delete(webhookDeliveries).where(its(seqs));
    await tx.delete(webhookEvents).where(inArray(webhookEvents.seq, seqs));
  });
}
