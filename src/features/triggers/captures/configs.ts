/** Capture configs: for which trigger a user captures requests, and until when. */
import { and, asc, eq, gte } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import { NotFound } from "../../../lib/errors.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import { requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { findAcl, listItemKinds } from "../../tenancy/rights/item-kinds.ts";
import { type CaptureConfig, type CaptureKind, captureConfigs } from "./tables.ts";

/** How long a config stays active after its last ping. */
const ACTIVE_MS = 60_000;

/** A script or flow, deployed or not. */
export interface CapturedRunnable {
  workspace_id: string;
  path: string;
  is_flow: boolean;
}

/** The script or flow and kind of trigger whose requests are captured. */
export interface CapturePlace extends CapturedRunnable {
  trigger_kind: CaptureKind;
}

const whereRunnable = ({ workspace_id, path, is_flow }: CapturedRunnable) =>
  and(
    eq(captureConfigs.workspace_id, workspace_id),
    eq(captureConfigs.path, path),
    eq(captureConfigs.is_flow, is_flow),
  );

const whereConfig = (place: CapturePlace) =>
  and(whereRunnable(place), eq(captureConfigs.trigger_kind, place.trigger_kind));

/**
 * Returns the script or flow if the caller may write to its path: payloads may contain data that only its authors
 * should see.
 * @throws BadRequest for an invalid path, Forbidden
 */
export async function requireCaptureAccess(
  ctx: WorkspaceContext,
  { path: given, is_flow }: { path: string; is_flow: boolean },
): Promise<CapturedRunnable> {
  const path = parsePath(given);
  const { workspace_id } = ctx.caller.member;
  const kind = listItemKinds(ctx.app).get(is_flow ? "flow" : "script");
  requireWriteAccess(ctx.caller.member, path, await findAcl(ctx.app.db.read, kind, workspace_id, path));
  return { workspace_id, path, is_flow };
}

/** Sets a config, which is then active. @throws BadRequest for an invalid path, Forbidden */
export async function setConfig(
  ctx: WorkspaceContext,
  {
    trigger_kind,
    trigger_config,
    ...given
  }: Omit<CapturePlace, "workspace_id"> & { trigger_config: unknown },
): Promise<void> {
  const runnable = await requireCaptureAccess(ctx, given);
  const row = {
    ...runnable,
    trigger_kind,
    trigger_config: trigger_config ?? null,
    edited_by: ctx.username,
    last_client_ping: ctx.app.clock(),
  };
  const { workspace_id, path, is_flow } = captureConfigs;
  const target = [workspace_id, path, is_flow, captureConfigs.trigger_kind];
  await ctx.write({ resource: runnable.path, parameters: { trigger_kind } }, async (tx) => {
    await tx.insert(captureConfigs).values(row).onConflictDoUpdate({ target, set: row });
  });
}

/** Keeps a config active. @throws NotFound if none is set, BadRequest, Forbidden */
export async function pingConfig(
  ctx: WorkspaceContext,
  { trigger_kind, ...given }: Omit<CapturePlace, "workspace_id">,
): Promise<void> {
  const place = { ...(await requireCaptureAccess(ctx, given)), trigger_kind };
  await ctx.app.db.write(async (tx) => {
    const rows = await tx
      .update(captureConfigs)
      .set({ last_client_ping: ctx.app.clock() })
      .where(whereConfig(place))
      .returning({ path: captureConfigs.path });
    if (rows.length === 0)
      throw new NotFound(`${trigger_kind} capture config of ${place.path}: set it first`);
  });
}

/** Lists the configs of a script or flow. @throws BadRequest for an invalid path, Forbidden */
export async function listConfigs(
  ctx: WorkspaceContext,
  given: Omit<CapturedRunnable, "workspace_id">,
): Promise<CaptureConfig[]> {
  const runnable = await requireCaptureAccess(ctx, given);
  return ctx.app.db.read
    .select()
    .from(captureConfigs)
    .where(whereRunnable(runnable))
    .orderBy(asc(captureConfigs.trigger_kind));
}

/** Returns the config if it was set or pinged recently. */
export async function findActiveConfig(
  app: App,
  place: CapturePlace,
  db: Reader = app.db.read,
): Promise<CaptureConfig | undefined> {
  const since = new Date(app.clock().getTime() - ACTIVE_MS);
  const [row] = await db
    .select()
    .from(captureConfigs)
    .where(and(whereConfig(place), gte(captureConfigs.last_client_ping, since)));
  return row;
}
