/**
 * The outbox: an event is stored in the transaction of the change it tells of, together with a delivery for each
 * endpoint that asked for its kind. So what was rolled back is never sent, and what was committed is never forgotten.
 */
import { and, eq } from "drizzle-orm";
import type { App } from "../../context.ts";
import type { Tx } from "../../database/database.ts";
import type { Hooks } from "../../http/execute.ts";
import { newJobId } from "../../lib/ids.ts";
import { perApp } from "../../lib/per-app.ts";
import { eventOf, type ToldEvent } from "./event-types.ts";
import { webhookDeliveries, webhookEndpoints, webhookEvents } from "./tables.ts";

/** Called when something may be due; set by the sender where there is one. */
export const senderOf = perApp<App, { wake(): void }>(() => ({ wake: () => {} }));

/** Stores the event that an audited change is, if it is one. */
export async function recordChange(
  app: App,
  tx: Tx,
  { audit, resource, parameters, workspace_id }: Parameters<Hooks["recordAudit"]>[1],
): Promise<void> {
  const { operation } = audit;
  const event = eventOf({ operation, workspace_id, resource: resource ?? "", parameters: parameters ?? {} });
  if (event) await recordEvent(app, tx, workspace_id, event);
}

/** Stores an event for whoever in the workspace, or on the instance (`global`), wants to be told. */
export async function recordEvent(
  app: App,
  tx: Tx,
  workspace_id: string,
  { type, keys }: ToldEvent,
): Promise<void> {
  const endpoints = await tx
    .select({ id: webhookEndpoints.id, types: webhookEndpoints.types })
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.workspace_id, workspace_id), eq(webhookEndpoints.enabled, true)));
  const told = endpoints.filter(({ types }) => types === null || types.includes(type));
  if (told.length === 0) return;
  const now = app.clock();
  const [event] = await tx
    .insert(webhookEvents)
    .values({
      id: newJobId(),
      workspace_id,
      type,
      payload: JSON.stringify({ type, ...keys }),
      created_at: now,
    })
    .returning({ seq: webhookEvents.seq });
  await tx.insert(webhookDeliveries).values(
    told.map(({ id }) => ({
      endpoint_id: id,
      event_seq: event!.seq,
      state: "pending" as const,
      attempts: 0,
      next_at: now,
    })),
  );
  tx.afterCommit(() => senderOf(app).wake());
}
