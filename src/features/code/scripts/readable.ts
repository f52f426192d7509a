import { eq, type SQL, sql } from "drizzle-orm";
import { hasKey, inPlace } from "../../../database/conditions.ts";
import { dialect } from "../../../database/kit.ts";
import { namesOf, readableBy, readablePlaces } from "../../../platform/access/permissions.ts";
import type { Member } from "../../../platform/app/context.ts";
import { scripts } from "./tables.ts";

/**
 * `readableBy` of scripts. SQLite, which reads on the thread that serves requests, is led to them: by the places that
 * the member may read in, and by the index of those that have entries. So it takes as long as there are scripts that
 * they may read, however many more there are in the workspace.
 */
export function readableScripts(member: Member): SQL | undefined {
  if (dialect !== "sqlite" || member.is_admin) return readableBy(member, scripts);
  const own = sql`SELECT seq FROM ${scripts} WHERE ${eq(scripts.workspace_id, member.workspace_id)}`;
  const found = [
    ...readablePlaces(member).map((place) => sql`${own} AND ${inPlace(scripts.path, place)}`),
    sql`${own} AND ${hasKey(scripts.extra_perms, [...namesOf(member)])}`,
  ];
  return sql`${scripts.seq} IN (${sql.join(found, sql` UNION ALL `)})`;
}

/** Of the versions of a path the newest one: of those that are live, or archived, or deleted, as the row is. */
export const isNewest = sql`${scripts.seq} = (SELECT max(s.seq) FROM scripts s WHERE s.workspace_id = ${scripts.workspace_id} AND s.path = ${scripts.path} AND s.archived = ${scripts.archived} AND s.deleted = ${scripts.deleted})`;
