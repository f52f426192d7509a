/** HTTP routes: who may set them up, and what must hold of each. */

import type { Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { checkPath } from "../../../lib/text/paths.ts";
import { requireManage, requireWrite } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { checkKey } from "../../assets/storage/store.ts";
import { requireTarget, targetAt } from "../../runs/submit/target.ts";
import { TriggerStore, type Written } from "../common/store.ts";
import { isAnswered, refuseOverlap, requireRoot } from "./places.ts";
import { checkRoute, type Placed, shapesOf } from "./routes.ts";
import { checkSecrets } from "./serve/authentication.ts";
import { forgetRoutes } from "./table.ts";
import { type HttpTrigger, httpTriggers } from "./tables.ts";

/** Where a route stands: it has stood there since, however often it was edited. */
const placeOf = (route: Placed & { http_method: string }) =>
  [route.http_method, ...shapesOf(route)].join("\n");

class RouteStore extends TriggerStore<HttpTrigger, "placed_at"> {
  override async setEnabled(ctx: WorkspaceContext, path: string, enabled: boolean): Promise<void> {
    if (enabled) requireRoot(ctx, await this.getWritable(ctx, path));
    await super.setEnabled(ctx, path, enabled);
  }
}

export const routes = new RouteStore(httpTriggers, {
  kind: "http_trigger",
  one: "an HTTP route",
  anew: (row, now, before) => ({
    placed_at: before && placeOf(before) === placeOf(row) ? (before.placed_at ?? before.edited_at) : now,
  }),
  changed: forgetRoutes,
});

type RouteBody = Omit<Written<HttpTrigger, "placed_at">, "enabled">;

/** @throws BadRequest naming the field, or the route that is there already; Forbidden; NotFound for what it would run */
export async function createRoute(
  ctx: WorkspaceContext,
  body: RouteBody & { enabled: boolean },
): Promise<void> {
  const path = checkPath(body.path);
  requireWrite(ctx.caller.member, path);
  const row = { ...(await checkBody(ctx, body)), enabled: body.enabled, path };
  await routes.insert(ctx, row, (tx: Tx) => refuseOverlap(ctx, tx, row));
}

/** Changes a route, and where it is kept. @throws as `createRoute` */
export async function updateRoute(
  ctx: WorkspaceContext,
  path: string,
  body: RouteBody & { enabled?: boolean },
): Promise<void> {
  const before = await routes.getWritable(ctx, path);
  const to = checkPath(body.path);
  if (to !== path) {
    requireManage(ctx.caller.member, path, "move");
    requireWrite(ctx.caller.member, to);
  }
  const changes = { ...(await checkBody(ctx, body)), path: to };
  const stays = placeOf(before) === placeOf({ ...changes, workspace_id: before.workspace_id });
  await routes.update(ctx, path, changes, async (tx) => {
    if (!stays) await refuseOverlap(ctx, tx, changes, path);
  });
}

async function checkBody<B extends RouteBody>(ctx: WorkspaceContext, body: B): Promise<B> {
  const route_path = checkRoute(body.route_path);
  requireRoot(ctx, { ...body, workspace_id: ctx.caller.member.workspace_id });
  await checkSecrets(ctx, body);
  const { static_asset_config, is_static_website, script_path, is_flow } = body;
  if (!static_asset_config) {
    if (is_static_website)
      throw new BadRequest("`static_asset_config` is missing: it says where the files are");
    await requireTarget(ctx, targetAt(script_path, is_flow));
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
  return isAnswered(ctx.app, row, but);
}
