/**
 * Who may have which route. No route of a workspace overlaps one of another: that is refused when a route is stored, and
 * where rows overlap all the same, one of them answers and the other says why it does not.
 */
import { eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { BadRequest, Forbidden } from "../../../lib/errors.ts";
import { canRead, canWrite } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { firstLiteral, type Placed, RouteTable, shapesOf } from "./routes.ts";
import { type HttpTrigger, httpTriggers } from "./tables.ts";

type Wanted = Placed & Pick<HttpTrigger, "http_method">;

/** Stands for all workspaces in the setting. */
const ALL = "*";

/**
 * Routes without the workspace's id before them are for all of the instance, so it says who may have them.
 * @throws Forbidden
 */
export function requireRoot({ app, caller }: WorkspaceContext, { workspaced_route }: Placed): void {
  const { identity, member } = caller;
  if (workspaced_route || identity.super_admin) return;
  const allowed = app.settings.get("root_route_workspaces");
  if (member.is_admin && (allowed.includes(ALL) || allowed.includes(member.workspace_id))) return;
  throw new Forbidden(
    "`workspaced_route`: routes directly below /api/r/ are for admins of the workspaces that the setting root_route_workspaces lists, and for super admins",
    { hint: `set \`workspaced_route\` for a route below /api/r/${member.workspace_id}/` },
  );
}

/** What stands where, in the order in which it counts: its own prefix first, then the older one. */
function inOrder(rows: readonly HttpTrigger[]): HttpTrigger[] {
  const since = ({ placed_at, edited_at }: HttpTrigger) => (placed_at ?? edited_at).getTime();
  const name = ({ workspace_id, path }: HttpTrigger) => `${workspace_id} ${path}`;
  return [...rows].sort(
    (a, b) =>
      Number(b.workspaced_route) - Number(a.workspaced_route) ||
      since(a) - since(b) ||
      (name(a) < name(b) ? -1 : 1),
  );
}

export interface Standing {
  table: RouteTable<HttpTrigger>;
  /** Why a route that is switched on does not answer, by `standingKey`. */
  errors: Map<string, string>;
}

export function standingKey({ workspace_id, path }: Pick<HttpTrigger, "workspace_id" | "path">): string {
  return `${workspace_id}/${path}`;
}

/** Which routes answer: none that overlaps one of another workspace that counts more. */
export function standingOf(rows: readonly HttpTrigger[]): Standing {
  const table = new RouteTable<HttpTrigger>();
  const errors = new Map<string, string>();
  for (const route of inOrder(rows)) {
    const foreign = table.overlapping(route).some(({ workspace_id }) => workspace_id !== route.workspace_id);
    if (!foreign) table.add(route);
    else {
      errors.set(
        standingKey(route),
        "not served: a route of another workspace answers some of the same requests; choose another `route_path`",
      );
    }
  }
  return { table, errors };
}

/**
 * Refuses a route that another one would share requests with: one of another workspace, one at the same place, and one
 * of this workspace that the caller may not change.
 * @param but the path of the route that is being changed
 * @throws BadRequest, Forbidden
 */
export async function refuseOverlap(
  { caller: { member } }: WorkspaceContext,
  tx: Tx,
  body: Omit<Wanted, "workspace_id">,
  but?: string,
): Promise<void> {
  await tx.lock("http routes");
  const row = { ...body, workspace_id: member.workspace_id };
  const what = `\`route_path\`: ${row.http_method.toUpperCase()} /api/r/${shapesOf(row)[0]}`;
  const hint = "choose another route or method, or set `workspaced_route` for one below the workspace's id";
  if (await beginsWithAnother(tx, row)) {
    throw new BadRequest(`${what} begins with the id of another workspace`, { hint });
  }
  for (const other of await overlapping(tx, row, but)) {
    const isOwn = other.workspace_id === row.workspace_id;
    const who = isOwn && canRead(member, other.path, other.extra_perms) ? other.path : "another one";
    if (!isOwn || isSame(row, other)) throw new BadRequest(`${what} is answered by ${who} already`, { hint });
    if (!canWrite(member, other.path, other.extra_perms)) {
      throw new Forbidden(`${what} would answer requests of ${who}, which ${member.username} may not change`);
    }
  }
}

const isSame = (a: Wanted, b: Wanted) => shapesOf(a).some((shape) => shapesOf(b).includes(shape));

async function beginsWithAnother(db: Reader, row: Wanted): Promise<boolean> {
  const first = row.workspaced_route ? undefined : firstLiteral(row);
  if (first === undefined || first === row.workspace_id) return false;
  const found = await db.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, first));
  return found.length > 0;
}

async function overlapping(db: Reader, row: Wanted, but: string | undefined): Promise<HttpTrigger[]> {
  const rows = await db.select().from(httpTriggers).where(eq(httpTriggers.http_method, row.http_method));
  const others = rows.filter(
    ({ workspace_id, path }) => !(workspace_id === row.workspace_id && path === but),
  );
  // One by one: of two at the same place a table holds the first only.
  return others.filter((other) => {
    const alone = new RouteTable<HttpTrigger>();
    alone.add(other);
    return alone.overlapping(row).length > 0;
  });
}

/** Whether something answers just there. @param but the path of a route that does not count */
export async function isAnswered(app: App, row: Wanted, but: string | undefined): Promise<boolean> {
  const found = await overlapping(app.db.read, row, but);
  return found.some((other) => other.workspace_id !== row.workspace_id || isSame(row, other));
}

/**
 * Refuses an id below which routes of the workspace would overlap those of others.
 * @throws BadRequest
 */
export async function refuseOverlapUnder(tx: Tx, workspace_id: string, to: string): Promise<void> {
  await tx.lock("http routes");
  const rows = await tx.select().from(httpTriggers).where(eq(httpTriggers.workspace_id, workspace_id));
  for (const row of rows.filter(({ workspaced_route }) => workspaced_route)) {
    const moved = await overlapping(tx, { ...row, workspace_id: to }, undefined);
    if (moved.every((other) => other.workspace_id === workspace_id)) continue;
    throw new BadRequest(
      `body field \`new_id\`: the route ${row.path} below /api/r/${to}/ would answer requests of another workspace`,
    );
  }
}
