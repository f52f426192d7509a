/**
 * Critical alerts: conditions the operator must know about. An alert is stored first; channels are notified after the
 * commit (`notify-channels.ts`).
 *
 * Call `raiseAlert`, or `raiseAlertInTransaction` inside a transaction. Periodic checks of the disk, of alerts and of
 * the license are in instance/self/maintenance.ts; mail is sent by signals/mail/send.ts.
 */
import { and, count, desc, eq, gt, lt } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { NotFound } from "../../../lib/errors.ts";
import type { App, Context } from "../../../platform/app/context.ts";
import { workspaceSettings } from "../../tenancy/workspaces/tables.ts";
import { notifyChannels } from "./notify-channels.ts";
import { criticalAlerts } from "./tables.ts";

/** The same alert raised again within this time is only counted, unless it was acknowledged. */
const DEDUPLICATION_MS = 24 * 3_600_000;
/** How long acknowledged alerts are kept. */
const RETENTION_MS = 90 * 24 * 3_600_000;

const MAX_MESSAGE_CHARS = 2_000;

export interface NewAlert {
  /** Machine-readable kind, in lower case with underscores. */
  kind: string;
  /** For people; must not contain secrets. */
  message: string;
  workspace_id?: string | undefined;
  /** The subject, such as a host name. Alerts of the same kind, workspace and subject are the same alert. */
  subject?: string | undefined;
  /** Marks a recovery: the condition has ended. */
  recovered?: boolean;
}

/**
 * Raises an alert. Never throws: an alert that cannot be stored is logged. Resolves once it is stored; channels are
 * notified in the background.
 */
export async function raiseAlert(app: App, alert: NewAlert): Promise<void> {
  logAlert(app, alert);
  try {
    const id = await app.db.write((tx) => storeAlert(app, tx, alert));
    if (id !== undefined) notifyChannels(app, id);
  } catch (cause) {
    app.log.error({ alert: alert.kind, error: String(cause) }, "the alert could not be stored");
  }
}

/** Raises an alert in the transaction of the change it reports, so both are committed or neither is. */
export async function raiseAlertInTransaction(app: App, tx: Tx, alert: NewAlert): Promise<void> {
  const id = await storeAlert(app, tx, alert);
  tx.afterCommit(() => {
    logAlert(app, alert);
    if (id !== undefined) notifyChannels(app, id);
  });
}

function logAlert({ log }: App, { kind, message, workspace_id, recovered }: NewAlert): void {
  const about = { alert: kind, ...(workspace_id ? { workspace: workspace_id } : {}) };
  log[recovered ? "warn" : "error"](about, message);
}

/**
 * Stores an alert, or counts it if the same one is open.
 * @returns the id of the new row; undefined if the same alert was only counted
 */
async function storeAlert(app: App, tx: Tx, alert: NewAlert): Promise<number | undefined> {
  const now = app.clock();
  const alert_type = alert.recovered ? "recovered_critical_error" : "critical_error";
  const key = [alert_type, alert.kind, alert.workspace_id ?? "", alert.subject ?? ""].join(" ");
  await tx.lock(`alert ${key}`);
  const muted = await isMuted(tx, alert.workspace_id);
  const [same] = await tx
    .select({ id: criticalAlerts.id, count: criticalAlerts.count })
    .from(criticalAlerts)
    .where(
      and(
        eq(criticalAlerts.key, key),
        eq(criticalAlerts.acknowledged, muted),
        gt(criticalAlerts.created_at, new Date(now.getTime() - DEDUPLICATION_MS)),
      ),
    );
  if (same) {
    const again = { count: same.count + 1, last_raised_at: now };
    await tx.update(criticalAlerts).set(again).where(eq(criticalAlerts.id, same.id));
    return undefined;
  }
  const [row] = await tx
    .insert(criticalAlerts)
    .values({
      alert_type,
      kind: alert.kind,
      message: alert.message.slice(0, MAX_MESSAGE_CHARS),
      workspace_id: alert.workspace_id ?? null,
      key,
      count: 1,
      created_at: now,
      last_raised_at: now,
      acknowledged: muted,
      next_try_at: now,
      tries: 0,
      told: null,
      send_failures: null,
    })
    .returning({ id: criticalAlerts.id });
  return row!.id;
}

/** Whether the workspace's admins muted its alerts: they are stored as acknowledged. Channels are notified anyway. */
async function isMuted(tx: Tx, workspace_id: string | undefined): Promise<boolean> {
  if (workspace_id === undefined) return false;
  const [row] = await tx
    .select({ settings: workspaceSettings.settings })
    .from(workspaceSettings)
    .where(eq(workspaceSettings.workspace_id, workspace_id));
  return row?.settings.mute_critical_alerts ?? false;
}

/** Deletes acknowledged alerts after their retention. */
export async function deleteOldAlerts(app: App): Promise<void> {
  const old = and(
    eq(criticalAlerts.acknowledged, true),
    lt(criticalAlerts.created_at, new Date(app.clock().getTime() - RETENTION_MS)),
  );
  const [some] = await app.db.read.select({ id: criticalAlerts.id }).from(criticalAlerts).where(old).limit(1);
  if (some) await app.db.write((tx) => tx.delete(criticalAlerts).where(old));
}

export function listAlerts(
  app: App,
  query: { page: number; page_size: number; acknowledged: boolean | undefined },
) {
  const { page, page_size, acknowledged } = query;
  return app.db.read
    .select({
      id: criticalAlerts.id,
      alert_type: criticalAlerts.alert_type,
      kind: criticalAlerts.kind,
      message: criticalAlerts.message,
      workspace_id: criticalAlerts.workspace_id,
      count: criticalAlerts.count,
      created_at: criticalAlerts.created_at,
      last_raised_at: criticalAlerts.last_raised_at,
      acknowledged: criticalAlerts.acknowledged,
      send_failures: criticalAlerts.send_failures,
    })
    .from(criticalAlerts)
    .where(acknowledged === undefined ? undefined : eq(criticalAlerts.acknowledged, acknowledged))
    .orderBy(desc(criticalAlerts.id))
    .limit(page_size)
    .offset((page - 1) * page_size);
}

/** Acknowledging also cancels pending notifications. */
const ACKNOWLEDGED_STATE = { acknowledged: true, next_try_at: null };

/** Marks an alert as acknowledged. @throws NotFound */
export async function acknowledgeAlert(ctx: Context, id: number): Promise<void> {
  await ctx.write({ resource: String(id) }, async (tx) => {
    const rows = await tx
      .update(criticalAlerts)
      .set(ACKNOWLEDGED_STATE)
      .where(eq(criticalAlerts.id, id))
      .returning({ id: criticalAlerts.id });
    if (rows.length === 0) throw new NotFound(`critical alert ${id}`);
  });
}

/** Marks all alerts as acknowledged. @returns how many were unacknowledged */
export async function acknowledgeAllAlerts(ctx: Context): Promise<number> {
  return ctx.write({}, async (tx) => {
    const standing = eq(criticalAlerts.acknowledged, false);
    const [found] = await tx.select({ n: count() }).from(criticalAlerts).where(standing);
    await tx.update(criticalAlerts).set(ACKNOWLEDGED_STATE).where(standing);
    return Number(found?.n ?? 0);
  });
}
