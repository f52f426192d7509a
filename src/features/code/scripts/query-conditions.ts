import { eq, type SQL, sql } from "drizzle-orm";
import { hasAnyKey, isBelowPrefix } from "../../../database/conditions.ts";
import { dialect } from "../../../database/kit.ts";
import { listGrantees, listReadablePrefixes, readableBy } from "../../../platform/access/permissions.ts";
import type { Member } from "../../../platform/app/context.ts";
import { scripts } from "./tables.ts";

/**
 * Returns the condition `readableBy` for scripts. On SQLite, which runs queries on the thread that serves requests, it
 * is written so that indexes find the readable places and the scripts with grants. The cost depends on the number of
 * readable scripts, not of all scripts.
 */
export function selectReadableScripts(member: Member): SQL | undefined {
  if (dialect !== "sqlite" || member.is_admin) return readableBy(member, scripts);
  const own = sql`SELECT seq FROM ${scripts} WHERE ${eq(scripts.workspace_id, member.workspace_id)}`;
  const found = [
    ...listReadablePrefixes(member).map((place) => sql`${own} AND ${isBelowPrefix(scripts.path, place)}`),
    sql`${own} AND ${hasAnyKey(scripts.extra_perms, [...listGrantees(member)])}`,
  ];
  return sql`${scripts.seq} IN (${sql.join(found, sql` UNION ALL `)})`;
}

/** Condition: the row is the newest version of its path among those with the same state (live, archived or deleted). */
export const isNewestVersion = sql`${scripts.seq} = (SELECT max(s.seq) FROM scripts s WHERE s.workspace_id = ${scripts.workspace_id} AND s.path = ${scripts.path} AND s.archived = ${scripts.archived} AND s.deleted = ${scripts.deleted})`;
