/** HTTP routes: permissions and validation. */

import type { Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import { removeTrailingSlashes } from "../../../lib/text/slashes.ts";
import { requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { parseFileKey } from "../../assets/storage/object-store.ts";
import { requireTarget, toTarget } from "../../runs/submit/target.ts";
import { type TriggerInput, TriggerStore } from "../common/trigger-store.ts";
import { invalidateRoutes } from "./active-routes.ts";
import { isRouteTaken, requireNoOverlap, requireRootRouteAllowed } from "./route-conflicts.ts";
import { listShapes, parseRoute, type RoutePlace } from "./route-table.ts";
import { requireValidSecrets } from "./serve/authentication.ts";
import { type HttpTrigger, httpTriggers } from "./tables.ts";

/** Returns a key of the route's path and method. Edits that keep it do not change `placed_at`. */
const routePlaceKey = (route: RoutePlace & { http_method: string }) =>
  [route.http_method, ...listShapes(route)].join("\n");

class RouteStore extends TriggerStore<HttpTrigger, "placed_at"> {
  override async setEnabled(ctx: WorkspaceContext, path: string, enabled: boolean): Promise<void> {
    if (enabled) requireRootRouteAllowed(ctx, await this.getWritable(ctx, path));
    await super.setEnabled(ctx, path, enabled);
  }
}

export const routeStore = new RouteStore(httpTriggers, {
  kind: "http_trigger",
  one: "an HTTP route",
  anew: (row, now, before) => ({
    placed_at:
      before && routePlaceKey(before) === routePlaceKey(row) ? (before.placed_at ?? before.edited_at) : now,
  }),
  changed: invalidateRoutes,
});

type RouteBody = Omit<TriggerInput<HttpTrigger, "placed_at">, "enabled">;

/**
 * Creates an HTTP route.
 * @throws BadRequest naming the field or the conflicting route; Forbidden; NotFound for an unknown target
 */
export async function createRoute(
  ctx: WorkspaceContext,
  body: RouteBody & { enabled: boolean },
): Promise<void> {
  const path = parsePath(body.path);
  requireWriteAccess(ctx.caller.member, path);
  const row = { ...(await parseRouteBody(ctx, body)), enabled: body.enabled, path };
  await routeStore.insert(ctx, row, (tx: Tx) => requireNoOverlap(ctx, tx, row));
}

/** Changes a route, and its path. @throws as `createRoute` */
export async function updateRoute(
  ctx: WorkspaceContext,
  path: string,
  body: RouteBody & { enabled?: boolean },
): Promise<void> {
  const to = parsePath(body.path);
  const before = await routeStore.getMovable(ctx, path, to);
  const changes = { ...(await parseRouteBody(ctx, body)), path: to };
  const stays = routePlaceKey(before) === routePlaceKey({ ...changes, workspace_id: before.workspace_id });
  await routeStore.update(ctx, path, changes, async (tx) => {
    if (!stays) await requireNoOverlap(ctx, tx, changes, path);
  });
}

async function parseRouteBody<B extends RouteBody>(ctx: WorkspaceContext, body: B): Promise<B> {
  const route_path = parseRoute(body.route_path);
  requireRootRouteAllowed(ctx, { ...body, workspace_id: ctx.caller.member.workspace_id });
  await requireValidSecrets(ctx, body);
  const { static_asset_config, is_static_website, script_path, is_flow } = body;
  if (!static_asset_config) {
    if (is_static_website) throw new BadRequest("`static_asset_config` is missing: it locates the files");
    await requireTarget(ctx, toTarget(script_path, is_flow));
    return { ...body, route_path };
  }
  if (body.http_method !== "get") throw new BadRequest("`http_method`: files are only served to `get`");
  if (is_static_website && route_path.includes("*")) {
    throw new BadRequest("`route_path`: a website serves everything below its path, so leave `*` out");
  }
  const s3 = removeTrailingSlashes(static_asset_config.s3);
  if (s3 !== "" || !is_static_website) parseFileKey(s3);
  return { ...body, route_path, static_asset_config: { ...static_asset_config, s3 } };
}

/** Whether a route exists with this path and method. @param but the path of a route to ignore */
export function isRouteAnswered(
  ctx: WorkspaceContext,
  asked: Omit<RoutePlace, "workspace_id" | "is_static_website"> & { http_method: HttpTrigger["http_method"] },
  but: string | undefined,
): Promise<boolean> {
  const row = {
    ...asked,
    route_path: parseRoute(asked.route_path),
    workspace_id: ctx.caller.member.workspace_id,
    is_static_website: false,
  };
  return isRouteTaken(ctx.app, row, but);
}
