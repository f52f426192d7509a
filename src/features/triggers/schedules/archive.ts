/** Schedules in the archive of a workspace. */
import { and, asc, eq } from "drizzle-orm";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { readableBy } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { jsonEntry } from "../../tenancy/rights/archive-entry.ts";
import { type Schedule, schedules } from "./tables.ts";

async function scheduleEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { member } = ctx.caller;
  const rows = await ctx.app.db.read
    .select()
    .from(schedules)
    .where(and(eq(schedules.workspace_id, member.workspace_id), readableBy(member, schedules)))
    .orderBy(asc(schedules.path));
  return rows.map(({ extra, ...row }) => jsonEntry(`${row.path}.schedule.json`, scheduleFields(row), extra));
}

/** What is known of a schedule where it is, and not what it is. */
const OF_THIS_PLACE = new Set<keyof Schedule>([
  "workspace_id",
  "path",
  "edited_by",
  "edited_at",
  "email",
  "extra_perms",
  "error",
  "next_at",
  "failed_times",
  "failed_job",
  "recovered_times",
]);

function scheduleFields(row: Omit<Schedule, "extra">): Partial<Schedule> {
  const kept = Object.entries(row).filter(([name]) => !OF_THIS_PLACE.has(name as keyof Schedule));
  return Object.fromEntries(kept);
}

export const scheduleSection: ArchiveSection = {
  tables: [schedules],
  domain: "schedules",
  isWanted: (options) => options.include_schedules,
  entries: scheduleEntries,
};
