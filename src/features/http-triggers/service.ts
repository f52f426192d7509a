/** HTTP routes: who may set them up, and what must hold of each. */
import { and, asc, desc, eq } from "drizzle-orm";
import type { WorkspaceContext } from "../../context.ts";
import { startsWith } from "../../database/conditions.ts";
import type { Reader, Tx } from "../../database/database.ts";
import { BadRequest, NotFound } from "../../errors.ts";
import { checkPath } from "../../lib/paths.ts";
import { resolveTarget, targetAt } from "../jobs/target.ts";
import { canRead, requireManage, requireWrite } from "../permissions.ts";
import { checkKey } from "../storage/store.ts";
import { checkSecrets } from "./authentication.ts";
import { checkRoute, type Placed, shapesOf } from "./routes.ts";
import { forgetRoutes } from "./table.ts";
import { type HttpTrigger, httpTriggers } from "./tables.ts";

/** What its author says of a route. */
export type RouteBody = Omit<
  HttpTrigger,
  "workspace_id" | "edited_by" | "edited_at" | "email" | "extra_perms" | "enabled"
>;

/** @throws BadRequest naming the field, or the route that is there already; Forbidden; NotFound for what it would run */
export async function createRoute(
  ctx: WorkspaceContext,
  body: RouteBody & { enabled: boolean },
): Promise<void> {
  const path = checkPath(body.path);
  const { workspace_id } = ctx.caller.member;
  requireWrite(ctx.caller.member, path);
  const row = { ...(await checkBody(ctx, body)), enabled: body.enabled, path, workspace_id };
  await ctx.write({ resource: path }, async (tx) => {
    await tx.lock("http routes");
    if (await find(ctx, tx, path)) throw new BadRequest(`there is an HTTP route at ${path} already`);
    await refuseTaken(ctx, tx, row);
    await tx.insert(httpTriggers).values({ ...row, extra_perms: {}, ...editedNow(ctx) });
    tx.afterCommit(() => forgetRoutes(ctx.app));
  });
}

/** Changes a route, and where it is kept. @throws as `createRoute` */
export async function updateRoute(ctx: WorkspaceContext, path: string, body: RouteBody): Promise<void> {
  const found = await getRoute(ctx, path);
  requireWrite(ctx.caller.member, path, found.extra_perms);
  const to = checkPath(body.path);
  if (to !== path) {
    requireManage(ctx.caller.member, path, "move");
    requireWrite(ctx.caller.member, to);
  }
  const row = { ...found, ...(await checkBody(ctx, body)), path: to };
  await ctx.write({ resource: path, parameters: to === path ? {} : { new_path: to } }, async (tx) => {
    await tx.lock("http routes");
    const { enabled, extra_perms } = await getRoute(ctx, path, tx);
    if (to !== path && (await find(ctx, tx, to))) {
      throw new BadRequest(`there is an HTTP route at ${to} already`);
    }
    await refuseTaken(ctx, tx, row, path);
    await tx
      .update(httpTriggers)
      .set({ ...row, enabled, extra_perms, ...editedNow(ctx) })
      .where(at(ctx, path));
    tx.afterCommit(() => forgetRoutes(ctx.app));
  });
}

/** @throws Forbidden, NotFound */
export async function setRouteEnabled(ctx: WorkspaceContext, path: string, enabled: boolean): Promise<void> {
  requireWrite(ctx.caller.member, path, (await getRoute(ctx, path)).extra_perms);
  await ctx.write({ resource: path, parameters: { enabled: String(enabled) } }, async (tx) => {
    const changed = await tx
      .update(httpTriggers)
      .set({ enabled, ...editedNow(ctx) })
      .where(at(ctx, path))
      .returning({ path: httpTriggers.path });
    if (changed.length === 0) throw missing(ctx, path);
    tx.afterCommit(() => forgetRoutes(ctx.app));
  });
}

/** @throws Forbidden, NotFound */
export async function deleteRoute(ctx: WorkspaceContext, path: string): Promise<void> {
  requireWrite(ctx.caller.member, path, (await getRoute(ctx, path)).extra_perms);
  await ctx.write({ resource: path }, async (tx) => {
    await tx.delete(httpTriggers).where(at(ctx, path));
    tx.afterCommit(() => forgetRoutes(ctx.app));
  });
}

/** Runs act as whoever edited it last: what others set up must not run with the rights of somebody who never saw it. */
function editedNow({ app, caller, username }: WorkspaceContext) {
  return { edited_by: username, edited_at: app.clock(), email: caller.identity.email };
}

async function checkBody(ctx: WorkspaceContext, body: RouteBody): Promise<RouteBody> {
  const route_path = checkRoute(body.route_path);
  await checkSecrets(ctx, body);
  const { static_asset_config, is_static_website, script_path, is_flow } = body;
  if (!static_asset_config) {
    if (is_static_website)
      throw new BadRequest("`static_asset_config` is missing: it says where the files are");
    await resolveTarget(ctx, targetAt(script_path, is_flow));
    return { ...body, route_path };
  }
  if (body.http_method !== "get") throw new BadRequest("`http_method`: files are served to `get` alone");
  if (is_static_website && route_path.includes("*")) {
    throw new BadRequest("`route_path`: a website has all that is below its place, without `*`");
  }
  const s3 = static_asset_config.s3.replace(/\/+$/, "");
  if (s3 !== "" || !is_static_website) checkKey(s3);
  return { ...body, route_path, static_asset_config: { ...static_asset_config, s3 } };
}

/** @param but the path of the route that is being changed @throws BadRequest naming what answers the same requests */
async function refuseTaken(
  ctx: WorkspaceContext,
  db: Reader,
  row: Placed & { http_method: HttpTrigger["http_method"] },
  but?: string,
): Promise<void> {
  const other = await sameRoute(db, row, but);
  if (!other) return;
  const { member } = ctx.caller;
  const isKnown =
    other.workspace_id === member.workspace_id && canRead(member, other.path, other.extra_perms);
  const who = isKnown ? other.path : "another one";
  throw new BadRequest(
    `\`route_path\`: ${row.http_method.toUpperCase()} /api/r/${shapesOf(row)[0]} is answered by ${who} already`,
    { hint: "choose another route or method, or set `workspaced_route` for one below the workspace's id" },
  );
}

async function sameRoute(
  db: Reader,
  row: Placed & { http_method: HttpTrigger["http_method"] },
  but: string | undefined,
): Promise<HttpTrigger | undefined> {
  const wanted = new Set(shapesOf(row));
  const rows = await db.select().from(httpTriggers).where(eq(httpTriggers.http_method, row.http_method));
  return rows.find(
    (other) =>
      !(other.workspace_id === row.workspace_id && other.path === but) &&
      shapesOf(other).some((shape) => wanted.has(shape)),
  );
}

/** Whether something answers at a route. @param but the path of a route that does not count */
export function routeExists(
  ctx: WorkspaceContext,
  asked: Omit<Placed, "workspace_id" | "is_static_website"> & { http_method: HttpTrigger["http_method"] },
  but: string | undefined,
): Promise<boolean> {
  const row = {
    ...asked,
    route_path: checkRoute(asked.route_path),
    workspace_id: ctx.caller.member.workspace_id,
    is_static_website: false,
  };
  return sameRoute(ctx.app.db.read, row, but).then((found) => found !== undefined);
}

function at({ caller }: WorkspaceContext, path: string) {
  return and(eq(httpTriggers.workspace_id, caller.member.workspace_id), eq(httpTriggers.path, path));
}

async function find(ctx: WorkspaceContext, db: Reader, path: string): Promise<HttpTrigger | undefined> {
  const [row] = await db.select().from(httpTriggers).where(at(ctx, path));
  return row;
}

function missing({ caller }: WorkspaceContext, path: string): NotFound {
  return new NotFound(`HTTP route ${path} in workspace ${caller.member.workspace_id}`);
}

/** @throws NotFound when there is none, or none that the caller may read */
export async function getRoute(
  ctx: WorkspaceContext,
  path: string,
  db: Reader | Tx = ctx.app.db.read,
): Promise<HttpTrigger> {
  const row = await find(ctx, db, path);
  if (!row || !canRead(ctx.caller.member, row.path, row.extra_perms)) throw missing(ctx, path);
  return row;
}

export async function routeExistsAt(ctx: WorkspaceContext, path: string): Promise<boolean> {
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
export async function listRoutes(ctx: WorkspaceContext, filters: TriggerFilters): Promise<HttpTrigger[]> {
  const { member } = ctx.caller;
  const { path, is_flow, path_start, page, per_page } = filters;
  const rows = await ctx.app.db.read
    .select()
    .from(httpTriggers)
    .where(
      and(
        eq(httpTriggers.workspace_id, member.workspace_id),
        path ? eq(httpTriggers.script_path, path) : undefined,
        is_flow === undefined ? undefined : eq(httpTriggers.is_flow, is_flow),
        path_start ? startsWith(httpTriggers.path, path_start) : undefined,
      ),
    )
    .orderBy(desc(httpTriggers.edited_at), asc(httpTriggers.path));
  const from = (Math.max(page, 1) - 1) * per_page;
  return rows.filter((row) => canRead(member, row.path, row.extra_perms)).slice(from, from + per_page);
}
