/** Captures: stores, reads and deletes requests and messages that triggers received. */
import { and, desc, eq, notInArray } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { NotFound, PayloadTooLarge } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { toLimitOffset } from "../../../platform/http/operation.ts";
import { requireScope } from "../../tenancy/tokens/scopes.ts";
import {
  type CapturedRunnable,
  type CapturePlace,
  findActiveConfig,
  requireCaptureAccess,
} from "./configs.ts";
import { maskQuerySecrets } from "./mask.ts";
import { type Capture, type CaptureKind, captureConfigs, captures } from "./tables.ts";

/** Maximum number of captures kept per script or flow and kind of trigger. */
const MAX_CAPTURES = 20;

/** Maximum size of a capture in characters. */
const MAX_CAPTURE_CHARS = 2_000_000;

/** Captured input; each field is the JSON text of an object. */
export type CapturedInput = Pick<Capture, "main_args" | "preprocessor_args">;

const whereRunnable = (
  table: typeof captures | typeof captureConfigs,
  { workspace_id, path, is_flow }: CapturedRunnable,
) => and(eq(table.workspace_id, workspace_id), eq(table.path, path), eq(table.is_flow, is_flow));

/** Stores a capture, and deletes the oldest ones above the limit. @throws PayloadTooLarge */
export async function storeCapture(app: App, place: CapturePlace, input: CapturedInput): Promise<void> {
  const { workspace_id, path, is_flow, trigger_kind } = place;
  if (input.main_args.length + input.preprocessor_args.length > MAX_CAPTURE_CHARS) {
    throw new PayloadTooLarge(`a capture holds at most ${MAX_CAPTURE_CHARS} characters of JSON`);
  }
  const isSame = and(whereRunnable(captures, place), eq(captures.trigger_kind, trigger_kind));
  await app.db.write(async (tx) => {
    const row = { workspace_id, path, is_flow, trigger_kind, ...input, created_at: app.clock() };
    await tx.insert(captures).values(row);
    const kept = tx
      .select({ id: captures.id })
      .from(captures)
      .where(isSame)
      .orderBy(desc(captures.id))
      .limit(MAX_CAPTURES);
    await tx.delete(captures).where(and(isSame, notInArray(captures.id, kept)));
  });
}

/** Captures a WebSocket message if a user is capturing for its script or flow. Best effort. */
export async function captureMessage(
  app: App,
  runnable: CapturedRunnable,
  { msg, url }: { msg: string; url: string },
): Promise<void> {
  const place = { ...runnable, trigger_kind: "websocket" } as const;
  try {
    if (!(await findActiveConfig(app, place))) return;
    if (msg.length > MAX_CAPTURE_CHARS / 4) return;
    const event = { kind: "websocket", msg, url: maskQuerySecrets(url) };
    const preprocessor_args = JSON.stringify({ event });
    await storeCapture(app, place, { main_args: JSON.stringify({ msg }), preprocessor_args });
  } catch (error) {
    const { workspace_id: workspace, path } = runnable;
    app.log.warn({ workspace, path, error: String(error) }, "a WebSocket message could not be captured");
  }
}

/** Lists captures, newest first. @throws BadRequest for an invalid path, Forbidden */
export async function listCaptures(
  ctx: WorkspaceContext,
  given: Omit<CapturedRunnable, "workspace_id">,
  { trigger_kind, ...page }: { trigger_kind?: CaptureKind | undefined; page: number; per_page: number },
) {
  const runnable = await requireCaptureAccess(ctx, given);
  const { offset, limit } = toLimitOffset(page);
  const rows = await ctx.app.db.read
    .select()
    .from(captures)
    .where(
      and(
        whereRunnable(captures, runnable),
        trigger_kind === undefined ? undefined : eq(captures.trigger_kind, trigger_kind),
      ),
    )
    .orderBy(desc(captures.id))
    .limit(limit)
    .offset(offset);
  return rows.map(toRecord);
}

/** Returns a capture. @throws NotFound, Forbidden */
export async function getCapture(ctx: WorkspaceContext, id: string) {
  return toRecord(await getRow(ctx, id));
}

/** Deletes a capture. @throws NotFound, Forbidden */
export async function deleteCapture(ctx: WorkspaceContext, id: string): Promise<void> {
  const { path, ...row } = await getRow(ctx, id);
  await ctx.write({ resource: path, parameters: { id: String(row.id) } }, async (tx) => {
    await tx.delete(captures).where(eq(captures.id, row.id));
  });
}

/**
 * Moves configs and captures of a script or flow to its new path, replacing existing ones.
 * @throws BadRequest for an invalid path, Forbidden
 */
export async function moveCaptures(
  ctx: WorkspaceContext,
  given: Omit<CapturedRunnable, "workspace_id">,
  new_path: string,
): Promise<void> {
  const from = await requireCaptureAccess(ctx, given);
  const to = await requireCaptureAccess(ctx, { path: new_path, is_flow: from.is_flow });
  requireScope(ctx.caller.identity, { domain: "capture", action: "write" }, to.path);
  if (from.path === to.path) return;
  await ctx.write({ resource: from.path, parameters: { new_path: to.path } }, async (tx) => {
    for (const table of [captures, captureConfigs]) await moveRows(tx, table, from, to);
  });
}

async function moveRows(
  tx: Tx,
  table: typeof captures | typeof captureConfigs,
  from: CapturedRunnable,
  { path, ...to }: CapturedRunnable,
): Promise<void> {
  await tx.delete(table).where(whereRunnable(table, { path, ...to }));
  await tx.update(table).set({ path }).where(whereRunnable(table, from));
}

async function getRow(ctx: WorkspaceContext, id: string): Promise<Capture> {
  const { workspace_id } = ctx.caller.member;
  const isId = /^\d{1,15}$/.test(id);
  const [row] = isId
    ? await ctx.app.db.read
        .select()
        .from(captures)
        .where(and(eq(captures.workspace_id, workspace_id), eq(captures.id, Number(id))))
    : [];
  if (!row) throw new NotFound(`capture ${id} in workspace ${workspace_id}`);
  await requireCaptureAccess(ctx, row);
  return row;
}

/** Creates the record. The fields were renamed; older and newer clients read one pair each. */
function toRecord({ id, trigger_kind, created_at, ...row }: Capture) {
  const main_args = parseJson(row.main_args);
  const preprocessor_args = parseJson(row.preprocessor_args);
  const args = { main_args, preprocessor_args, payload: main_args, trigger_extra: preprocessor_args };
  return { id, trigger_kind, created_at, ...args };
}
