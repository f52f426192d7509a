/**
 * Critical alerts: raised where something happens that the operator must know of, stored first and told to the
 * channels after the commit (`telling.ts`).
 */
import { and, count, desc, eq, gt, lt } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { NotFound } from "../../../lib/errors.ts";
import type { App, Context } from "../../../platform/app/context.ts";
import { workspaceSettings } from "../../tenancy/workspaces/tables.ts";
import { tell } from "./notify-channels.ts";
import { criticalAlerts } from "./tables.ts";

/** The same alert raised again within this time is counted, not told again, as long as nobody acknowledged it. */
const SAME_MS = 24 * 3_600_000;
/** For this long acknowledged alerts are kept. */
const KEPT_MS = 90 * 24 * 3_600_000;

const MAX_MESSAGE = 2_000;

export interface NewAlert {
  /** What happened, for programs: lower case and underscores. */
  kind: string;
  /** For a person, with nothing secret in it. */
  message: string;
  workspace_id?: string | undefined;
  /** What it is about, where there may be several at once: alerts of one kind, workspace and subject are the same. */
  subject?: string | undefined;
  /** It is over. */
  recovered?: boolean;
}

/**
 * Raises an alert. Never throws: what raises it has enough to do, so an alert that cannot be stored goes to the log.
 * Resolves once it is stored; the channels are told by then or later.
 */
export async function raiseAlert(app: App, alert: NewAlert): Promise<void> {
  sayInLog(app, alert);
  try {
    const id = await app.db.write((tx) => store(app, tx, alert));
    if (id !== undefined) tell(app, id);
  } catch (cause) {
    app.log.error({ alert: alert.kind, error: String(cause) }, "the alert could not be stored");
  }
}

/** Raises an alert in the transaction that stores what it tells of: there is never the one without the other. */
export async function raiseAlertWith(app: App, tx: Tx, alert: NewAlert): Promise<void> {
  const id = await store(app, tx, alert);
  tx.afterCommit(() => {
    sayInLog(app, alert);
    if (id !== undefined) tell(app, id);
  });
}

function sayInLog({ log }: App, { kind, message, workspace_id, recovered }: NewAlert): void {
  const about = { alert: kind, ...(workspace_id ? { workspace: workspace_id } : {}) };
  log[recovered ? "warn" : "error"](about, message);
}

/** @returns the id of a new row; undefined when the same alert stands already */
async function store(app: App, tx: Tx, alert: NewAlert): Promise<number | undefined> {
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
        gt(criticalAlerts.created_at, new Date(now.getTime() - SAME_MS)),
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
      message: alert.message.slice(0, MAX_MESSAGE),
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

/** Whether admins of the workspace want its alerts to stand nowhere as open; the channels are the instance's. */
async function isMuted(tx: Tx, workspace_id: string | undefined): Promise<boolean> {
  if (workspace_id === undefined) return false;
  const [row] = await tx
    .select({ settings: workspaceSettings.settings })
    .from(workspaceSettings)
    .where(eq(workspaceSettings.workspace_id, workspace_id));
  return row?.settings.mute_critical_alerts ?? false;
}

/** Lets go of what was acknowledged long ago. */
export async function forgetOldAlerts(app: App): Promise<void> {
  const old = and(
    eq(criticalAlerts.acknowledged, true),
    lt(criticalAlerts.created_at, new Date(app.clock().getTime() - KEPT_MS)),
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

/** Whoever was not told of it yet need not be. */
const ACKNOWLEDGED = { acknowledged: true, next_try_at: null };

/** @throws NotFound */
export async function acknowledge(ctx: Context, id: number): Promise<void> {
  await ctx.write({ resource: String(id) }, async (tx) => {
    const rows = await tx
      .update(criticalAlerts)
      .set(ACKNOWLEDGED)
      .where(eq(criticalAlerts.id, id))
      .returning({ id: criticalAlerts.id });
    if (rows.length === 0) throw new NotFound(`critical alert ${id}`);
  });
}

/** @returns how many stood */
export async function acknowledgeAll(ctx: Context): Promise<number> {
  return ctx.write({}, async (tx) => {
    const standing = eq(criticalAlerts.acknowledged, false);
    const [found] = await tx.select({ n: count() }).from(criticalAlerts).where(standing);
    await tx.update(criticalAlerts).set(ACKNOWLEDGED).where(standing);
    return Number(found?.n ?? 0);
  });
}
