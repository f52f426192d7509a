/** WebSocket triggers: who may set them up, and what must hold of each. */
import { and, asc, desc, eq } from "drizzle-orm";
import type { App, WorkspaceContext } from "../../context.ts";
import { startsWith } from "../../database/conditions.ts";
import type { Reader } from "../../database/database.ts";
import { BadRequest, NotFound } from "../../errors.ts";
import { checkPath } from "../../lib/paths.ts";
import { perApp } from "../../lib/per-app.ts";
import { resolveTarget, type Target, targetAt } from "../jobs/target.ts";
import { canRead, requireManage, requireWrite } from "../permissions.ts";
import { type WebsocketTrigger, websocketTriggers } from "./tables.ts";

/** Called when a trigger was changed; set by the listener where there is one. */
export const listenerOf = perApp<App, { wake(): void }>(() => ({ wake: () => {} }));

/** What its author says of a trigger. */
export type TriggerBody = Omit<
  WebsocketTrigger,
  | "workspace_id"
  | "edited_by"
  | "edited_at"
  | "email"
  | "extra_perms"
  | "error"
  | "server_id"
  | "last_server_ping"
  | "enabled"
>;

/** @throws BadRequest naming the field, Forbidden, NotFound for what it would run */
export async function createTrigger(
  ctx: WorkspaceContext,
  body: TriggerBody & { enabled: boolean },
): Promise<void> {
  const path = checkPath(body.path);
  const { workspace_id } = ctx.caller.member;
  requireWrite(ctx.caller.member, path);
  await checkBody(ctx, body);
  await ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`websocket trigger ${workspace_id} ${path}`);
    await refuseTaken(ctx, tx, path);
    await tx
      .insert(websocketTriggers)
      .values({ ...body, path, workspace_id, extra_perms: {}, ...editedNow(ctx) });
    tx.afterCommit(listenerOf(ctx.app).wake);
  });
}

/** Changes a trigger, and where it is kept: whoever listens begins anew. @throws as `createTrigger` */
export async function updateTrigger(ctx: WorkspaceContext, path: string, body: TriggerBody): Promise<void> {
  const found = await getTrigger(ctx, path);
  requireWrite(ctx.caller.member, path, found.extra_perms);
  const to = checkPath(body.path);
  if (to !== path) {
    requireManage(ctx.caller.member, path, "move");
    requireWrite(ctx.caller.member, to);
  }
  await checkBody(ctx, body);
  await ctx.write({ resource: path, parameters: to === path ? {} : { new_path: to } }, async (tx) => {
    await tx.lock(`websocket trigger ${ctx.caller.member.workspace_id} ${to}`);
    await getTrigger(ctx, path, tx);
    if (to !== path) await refuseTaken(ctx, tx, to);
    await tx
      .update(websocketTriggers)
      .set({ ...body, path: to, ...editedNow(ctx) })
      .where(at(ctx, path));
    tx.afterCommit(listenerOf(ctx.app).wake);
  });
}

/** @throws Forbidden, NotFound */
export async function setTriggerEnabled(
  ctx: WorkspaceContext,
  path: string,
  enabled: boolean,
): Promise<void> {
  requireWrite(ctx.caller.member, path, (await getTrigger(ctx, path)).extra_perms);
  await ctx.write({ resource: path, parameters: { enabled: String(enabled) } }, async (tx) => {
    await getTrigger(ctx, path, tx);
    await tx
      .update(websocketTriggers)
      .set({ enabled, ...editedNow(ctx) })
      .where(at(ctx, path));
    tx.afterCommit(listenerOf(ctx.app).wake);
  });
}

/** @throws Forbidden, NotFound */
export async function deleteTrigger(ctx: WorkspaceContext, path: string): Promise<void> {
  requireWrite(ctx.caller.member, path, (await getTrigger(ctx, path)).extra_perms);
  await ctx.write({ resource: path }, async (tx) => {
    await tx.delete(websocketTriggers).where(at(ctx, path));
    tx.afterCommit(listenerOf(ctx.app).wake);
  });
}

/**
 * Runs act as whoever edited it last: what others set up must not run with the rights of somebody who never saw it.
 * Whoever listens as it was before has no hold on it any more.
 */
function editedNow({ app, caller, username }: WorkspaceContext) {
  return {
    edited_by: username,
    edited_at: app.clock(),
    email: caller.identity.email,
    error: null,
    server_id: null,
    last_server_ping: null,
  };
}

async function checkBody(ctx: WorkspaceContext, body: TriggerBody): Promise<void> {
  const { script_path, is_flow, url, initial_messages } = body;
  await resolveTarget(ctx, targetAt(script_path, is_flow));
  const runnable = runnableOf(url);
  if (runnable) await resolveTarget(ctx, runnable);
  else checkUrl(url);
  for (const message of initial_messages) {
    if ("raw_message" in message) continue;
    const { path, is_flow: isFlow } = message.runnable_result;
    await resolveTarget(ctx, targetAt(path, isFlow));
  }
}

/** What `$script:<path>` or `$flow:<path>` names; undefined for any other text. */
export function runnableOf(url: string): Target | undefined {
  const [, kind, path] = /^\$(script|flow):(.+)$/.exec(url) ?? [];
  if (path === undefined) return undefined;
  return targetAt(path, kind === "flow");
}

/** @throws BadRequest for what is no address of a WebSocket (RFC 6455 §3) */
export function checkUrl(url: string): string {
  const protocol = URL.parse(url)?.protocol;
  if (protocol === "ws:" || protocol === "wss:") return url;
  throw new BadRequest(
    "`url`: must be ws://… or wss://…, or $script:<path> or $flow:<path>, whose result it is",
  );
}

function at({ caller }: WorkspaceContext, path: string) {
  return and(
    eq(websocketTriggers.workspace_id, caller.member.workspace_id),
    eq(websocketTriggers.path, path),
  );
}

async function find(ctx: WorkspaceContext, db: Reader, path: string): Promise<WebsocketTrigger | undefined> {
  const [row] = await db.select().from(websocketTriggers).where(at(ctx, path));
  return row;
}

async function refuseTaken(ctx: WorkspaceContext, db: Reader, path: string): Promise<void> {
  if (await find(ctx, db, path)) throw new BadRequest(`there is a WebSocket trigger at ${path} already`);
}

/** @throws NotFound when there is none, or none that the caller may read */
export async function getTrigger(
  ctx: WorkspaceContext,
  path: string,
  db: Reader = ctx.app.db.read,
): Promise<WebsocketTrigger> {
  const row = await find(ctx, db, path);
  const { member } = ctx.caller;
  if (!row || !canRead(member, row.path, row.extra_perms)) {
    throw new NotFound(`WebSocket trigger ${path} in workspace ${member.workspace_id}`);
  }
  return row;
}

export async function triggerExists(ctx: WorkspaceContext, path: string): Promise<boolean> {
  return (await find(ctx, ctx.app.db.read, path)) !== undefined;
}

export interface TriggerFilters {
  /** Of the script or flow that runs. */
  path?: string | undefined;
  is_flow?: boolean | undefined;
  path_start?: string | undefined;
  page: number;
  per_page: number;
}

/** What the caller may read, last edited first. */
export async function listTriggers(
  ctx: WorkspaceContext,
  { path, is_flow, path_start, page, per_page }: TriggerFilters,
): Promise<WebsocketTrigger[]> {
  const { member } = ctx.caller;
  const rows = await ctx.app.db.read
    .select()
    .from(websocketTriggers)
    .where(
      and(
        eq(websocketTriggers.workspace_id, member.workspace_id),
        path ? eq(websocketTriggers.script_path, path) : undefined,
        is_flow === undefined ? undefined : eq(websocketTriggers.is_flow, is_flow),
        path_start ? startsWith(websocketTriggers.path, path_start) : undefined,
      ),
    )
    .orderBy(desc(websocketTriggers.edited_at), asc(websocketTriggers.path));
  const from = (Math.max(page, 1) - 1) * per_page;
  return rows.filter((row) => canRead(member, row.path, row.extra_perms)).slice(from, from + per_page);
}
