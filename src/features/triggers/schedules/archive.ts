/** Schedules in the archive of a workspace. */
import { and, asc, eq } from "drizzle-orm";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { readableBy } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { createJsonEntry } from "../../tenancy/rights/archive-entry.ts";
import { type Schedule, schedules } from "./tables.ts";

async function listScheduleEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { member } = ctx.caller;
  const rows = await ctx.app.db.read
    .select()
    .from(schedules)
    .where(and(eq(schedules.workspace_id, member.workspace_id), readableBy(member, schedules)))
    .orderBy(asc(schedules.path));
  return rows.map(({ extra, ...row }) =>
    createJsonEntry(`${row.path}.schedule.json`, pickScheduleFields(row), extra),
  );
}

/** Fields that describe a schedule's state on this server, not its definition. */
const SERVER_FIELDS = new Set<keyof Schedule>([
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

function pickScheduleFields(row: Omit<Schedule, "extra">): Partial<Schedule> {
  const kept = Object.entries(row).filter(([name]) => !SERVER_FIELDS.has(name as keyof Schedule));
  return Object.fromEntries(kept);
}

export const scheduleSection: ArchiveSection = {
  tables: [schedules],
  domain: "schedules",
  isWanted: (options) => options.include_schedules,
  entries: listScheduleEntries,
};
