/** Cache of all enabled routes, which each request to a route needs. */
import { and, eq } from "drizzle-orm";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import { defineInvalidation } from "../../../platform/cluster/cache-invalidation.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { type ActiveRoutes, createActiveRoutes } from "./route-conflicts.ts";
import { httpTriggers } from "./tables.ts";

interface RouteCache {
  table: Promise<ActiveRoutes> | undefined;
}

const routeCacheOf = memoizePerApp<App, RouteCache>(() => ({ table: undefined }));

/** Invalidates the cache. Call it after a commit that changed a route, or a workspace with routes. */
export const invalidateRoutes = defineInvalidation<[]>("routes", {
  forget: clearRouteCache,
  forgetAll: clearRouteCache,
});

function clearRouteCache(app: App): void {
  routeCacheOf(app).table = undefined;
}

/** Returns the routes of all workspaces that are not archived. */
export function getActiveRoutes(app: App): Promise<ActiveRoutes> {
  const known = routeCacheOf(app);
  if (known.table) return known.table;
  const table = loadActiveRoutes(app);
  known.table = table;
  table.catch(() => {
    if (known.table === table) known.table = undefined;
  });
  return table;
}

async function loadActiveRoutes(app: App): Promise<ActiveRoutes> {
  const rows = await app.db.read
    .select({ route: httpTriggers })
    .from(httpTriggers)
    .innerJoin(workspaces, eq(workspaces.id, httpTriggers.workspace_id))
    .where(and(eq(httpTriggers.enabled, true), eq(workspaces.archived, false)));
  return createActiveRoutes(rows.map(({ route }) => route));
}
