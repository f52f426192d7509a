/** The table of all routes that are switched on: in memory, since it is asked on every request to one. */
import { and, eq } from "drizzle-orm";
import { perApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import { forgottenEverywhere } from "../../../platform/cluster/cache-invalidation.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { type Standing, standingOf } from "./places.ts";
import { httpTriggers } from "./tables.ts";

interface Known {
  table: Promise<Standing> | undefined;
}

const knownOf = perApp<App, Known>(() => ({ table: undefined }));

/** Forgets the table; called after a commit that changed a route, or a workspace with routes. */
export const forgetRoutes = forgottenEverywhere<[]>("routes", {
  forget: forgetTable,
  forgetAll: forgetTable,
});

function forgetTable(app: App): void {
  knownOf(app).table = undefined;
}

/** All routes of workspaces that are not archived, as they are stored now, or were a moment ago. */
export function routesOf(app: App): Promise<Standing> {
  const known = knownOf(app);
  if (known.table) return known.table;
  const table = load(app);
  known.table = table;
  table.catch(() => {
    if (known.table === table) known.table = undefined;
  });
  return table;
}

async function load(app: App): Promise<Standing> {
  const rows = await app.db.read
    .select({ route: httpTriggers })
    .from(httpTriggers)
    .innerJoin(workspaces, eq(workspaces.id, httpTriggers.workspace_id))
    .where(and(eq(httpTriggers.enabled, true), eq(workspaces.archived, false)));
  return standingOf(rows.map(({ route }) => route));
}
