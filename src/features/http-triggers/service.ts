/** HTTP routes: who may set them up, and what must hold of each. */
import { eq } from "drizzle-orm";
import type { WorkspaceContext } from "../../context.ts";
import type { Reader, Tx } from "../../database/database.ts";
import { BadRequest } from "../../errors.ts";
import { checkPath } from "../../lib/paths.ts";
import { resolveTarget, targetAt } from "../jobs/target.ts";
import { canRead, requireManage, requireWrite } from "../permissions.ts";
import { checkKey } from "../storage/store.ts";
import { TriggerStore, type Written } from "../triggers/store.ts";
import { checkSecrets } from "./authentication.ts";
import { checkRoute, type Placed, shapesOf } from "./routes.ts";
import { forgetRoutes } from "./table.ts";
import { type HttpTrigger, httpTriggers } from "./tables.ts";

export const routes = new TriggerStore<HttpTrigger>(httpTriggers, {
  kind: "http_trigger",
  one: "an HTTP route",
  anew: () => ({}),
  changed: forgetRoutes,
});

type RouteBody = Omit<Written<HttpTrigger>, "enabled">;

/** @throws BadRequest naming the field, or the route that is there already; Forbidden; NotFound for what it would run */
export async function createRoute(
  ctx: WorkspaceContext,
  body: RouteBody & { enabled: boolean },
): Promise<void> {
  const path = checkPath(body.path);
  requireWrite(ctx.caller.member, path);
  const row = { ...(await checkBody(ctx, body)), enabled: body.enabled, path };
  await routes.insert(ctx, row, (tx) => refuseTaken(ctx, tx, row));
}

/** Changes a route, and where it is kept. @throws as `createRoute` */
export async function updateRoute(ctx: WorkspaceContext, path: string, body: RouteBody): Promise<void> {
  await routes.getWritable(ctx, path);
  const to = checkPath(body.path);
  if (to !== path) {
    requireManage(ctx.caller.member, path, "move");
    requireWrite(ctx.caller.member, to);
  }
  const changes = { ...(await checkBody(ctx, body)), path: to };
  await routes.update(ctx, path, changes, (tx) => refuseTaken(ctx, tx, changes, path));
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
  { caller: { member } }: WorkspaceContext,
  tx: Tx,
  body: RouteBody,
  but?: string,
): Promise<void> {
  await tx.lock("http routes");
  const row = { ...body, workspace_id: member.workspace_id };
  const other = await sameRoute(tx, row, but);
  if (!other) return;
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
