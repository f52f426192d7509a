/**
 * Conflicts between HTTP routes. A route must not overlap one of another workspace: that is rejected when it is stored.
 * If rows overlap anyway, one route is active and the other reports an error.
 */
import { eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { BadRequest, Forbidden } from "../../../lib/errors.ts";
import { canRead, canWrite } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { getFirstLiteralPart, listShapes, type RoutePlace, RouteTable } from "./route-table.ts";
import { type HttpTrigger, httpTriggers } from "./tables.ts";

type RouteCandidate = RoutePlace & Pick<HttpTrigger, "http_method">;

/** All workspaces, in the setting. */
const ALL_WORKSPACES = "*";

/**
 * Requires that the workspace may have routes without its id as prefix. These are shared by the whole instance, so a
 * setting lists the workspaces.
 * @throws Forbidden
 */
export function requireRootRouteAllowed(
  { app, caller }: WorkspaceContext,
  { workspaced_route }: RoutePlace,
): void {
  const { identity, member } = caller;
  if (workspaced_route || identity.super_admin) return;
  const allowed = app.settings.get("root_route_workspaces");
  if (member.is_admin && (allowed.includes(ALL_WORKSPACES) || allowed.includes(member.workspace_id))) return;
  throw new Forbidden(
    "`workspaced_route`: routes directly below /api/r/ can only be set by admins of the workspaces that the setting root_route_workspaces lists, and by super admins",
    { hint: `set \`workspaced_route\` for a route below /api/r/${member.workspace_id}/` },
  );
}

/** Sorts routes by precedence: routes below their own workspace's prefix first, then older ones. */
function sortByPrecedence(rows: readonly HttpTrigger[]): HttpTrigger[] {
  const since = ({ placed_at, edited_at }: HttpTrigger) => (placed_at ?? edited_at).getTime();
  const name = ({ workspace_id, path }: HttpTrigger) => `${workspace_id} ${path}`;
  return [...rows].sort(
    (a, b) =>
      Number(b.workspaced_route) - Number(a.workspaced_route) ||
      since(a) - since(b) ||
      (name(a) < name(b) ? -1 : 1),
  );
}

export interface ActiveRoutes {
  table: RouteTable<HttpTrigger>;
  /** Errors of enabled routes that are not active, by `createRouteKey`. */
  errors: Map<string, string>;
}

export function createRouteKey({ workspace_id, path }: Pick<HttpTrigger, "workspace_id" | "path">): string {
  return `${workspace_id}/${path}`;
}

/** Selects the active routes: those that overlap no route of another workspace with higher precedence. */
export function createActiveRoutes(rows: readonly HttpTrigger[]): ActiveRoutes {
  const table = new RouteTable<HttpTrigger>();
  const errors = new Map<string, string>();
  for (const route of sortByPrecedence(rows)) {
    const foreign = table.overlapping(route).some(({ workspace_id }) => workspace_id !== route.workspace_id);
    if (!foreign) table.add(route);
    else {
      errors.set(
        createRouteKey(route),
        "not served: a route of another workspace answers some of the same requests; choose another `route_path`",
      );
    }
  }
  return { table, errors };
}

/**
 * Requires that a route overlaps no other: none of another workspace, none at the same place, and none of this
 * workspace that the caller may not change.
 * @param but the path of the route that is being changed
 * @throws BadRequest, Forbidden
 */
export async function requireNoOverlap(
  { caller: { member } }: WorkspaceContext,
  tx: Tx,
  body: Omit<RouteCandidate, "workspace_id">,
  but?: string,
): Promise<void> {
  await tx.lock("http routes");
  const row = { ...body, workspace_id: member.workspace_id };
  const what = `\`route_path\`: ${row.http_method.toUpperCase()} /api/r/${listShapes(row)[0]}`;
  const hint = "choose another route or method, or set `workspaced_route` for one below the workspace's id";
  if (await startsLikeAnotherWorkspace(tx, row)) {
    throw new BadRequest(`${what} begins with the id of another workspace`, { hint });
  }
  for (const other of await listOverlapping(tx, row, but)) {
    const isOwn = other.workspace_id === row.workspace_id;
    const who = isOwn && canRead(member, other.path, other.extra_perms) ? other.path : "another one";
    if (!isOwn || isSame(row, other)) throw new BadRequest(`${what} is already served by ${who}`, { hint });
    if (!canWrite(member, other.path, other.extra_perms)) {
      throw new Forbidden(`${what} would answer requests of ${who}, which ${member.username} may not change`);
    }
  }
}

const isSame = (a: RouteCandidate, b: RouteCandidate) =>
  listShapes(a).some((shape) => listShapes(b).includes(shape));

async function startsLikeAnotherWorkspace(db: Reader, row: RouteCandidate): Promise<boolean> {
  const first = row.workspaced_route ? undefined : getFirstLiteralPart(row);
  if (first === undefined || first === row.workspace_id) return false;
  const found = await db.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, first));
  return found.length > 0;
}

async function listOverlapping(
  db: Reader,
  row: RouteCandidate,
  but: string | undefined,
): Promise<HttpTrigger[]> {
  const rows = await db.select().from(httpTriggers).where(eq(httpTriggers.http_method, row.http_method));
  const others = rows.filter(
    ({ workspace_id, path }) => !(workspace_id === row.workspace_id && path === but),
  );
  // In tables of their own, because one table keeps only the first of two routes at the same place.
  return others.filter((other) => {
    const alone = new RouteTable<HttpTrigger>();
    alone.add(other);
    return alone.overlapping(row).length > 0;
  });
}

/** Whether a route exists with exactly this path and method. @param but the path of a route to ignore */
export async function isRouteTaken(app: App, row: RouteCandidate, but: string | undefined): Promise<boolean> {
  const found = await listOverlapping(app.db.read, row, but);
  return found.some((other) => other.workspace_id !== row.workspace_id || isSame(row, other));
}

/**
 * Requires that the workspace's routes overlap no others under a new workspace id.
 * @throws BadRequest
 */
export async function requireNoOverlapUnder(tx: Tx, workspace_id: string, to: string): Promise<void> {
  await tx.lock("http routes");
  const rows = await tx.select().from(httpTriggers).where(eq(httpTriggers.workspace_id, workspace_id));
  for (const row of rows.filter(({ workspaced_route }) => workspaced_route)) {
    const moved = await listOverlapping(tx, { ...row, workspace_id: to }, undefined);
    if (moved.every((other) => other.workspace_id === workspace_id)) continue;
    throw new BadRequest(
      `body field \`new_id\`: the route ${row.path} below /api/r/${to}/ would answer requests of another workspace`,
    );
  }
}
