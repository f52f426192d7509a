import { and, eq } from "drizzle-orm";
import type { App } from "../../../platform/app/context.ts";
import type { TriggeredRunnable } from "../../../platform/app/lifecycle.ts";
import { schedules } from "./tables.ts";

/** Returns the schedule at the same path as a script or flow, if there is one. */
export async function findPrimarySchedule(
  app: App,
  { workspace_id, path, is_flow }: TriggeredRunnable,
): Promise<{ primary_schedule?: { schedule: string } }> {
  const [row] = await app.db.read
    .select({ schedule: schedules.schedule })
    .from(schedules)
    .where(
      and(
        eq(schedules.workspace_id, workspace_id),
        eq(schedules.path, path),
        eq(schedules.script_path, path),
        eq(schedules.is_flow, is_flow),
      ),
    );
  return row ? { primary_schedule: row } : {};
}
