import { sql, tableKit } from "../../../database/kit.ts";
import type { Retry } from "../../../engines/flow-engine/types.ts";

const { table, text, integer, boolean, timestamp, json, index, primaryKey } = tableKit;

/** Schedules: scripts and flows that run at given times. */
export const schedules = table(
  "schedules",
  {
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    /** Cron expression, with or without seconds. */
    schedule: text("schedule").notNull(),
    /** IANA name of the time zone. */
    timezone: text("timezone").notNull(),
    /** The script or flow that runs. */
    script_path: text("script_path").notNull(),
    is_flow: boolean("is_flow").notNull(),
    args: json<Record<string, unknown>>("args").notNull(),
    enabled: boolean("enabled").notNull(),
    summary: text("summary"),
    description: text("description"),
    tag: text("tag"),
    /** Skips a run if the previous one has not ended. */
    no_flow_overlap: boolean("no_flow_overlap").notNull(),
    paused_until: timestamp("paused_until"),
    retry: json<Retry>("retry"),
    cron_version: text("cron_version"),
    ws_error_handler_muted: boolean("ws_error_handler_muted").notNull(),
    on_failure: text("on_failure"),
    on_failure_times: integer("on_failure_times"),
    on_failure_exact: boolean("on_failure_exact"),
    on_failure_extra_args: json<Record<string, unknown>>("on_failure_extra_args"),
    on_recovery: text("on_recovery"),
    on_recovery_times: integer("on_recovery_times"),
    on_recovery_extra_args: json<Record<string, unknown>>("on_recovery_extra_args"),
    on_success: text("on_success"),
    on_success_extra_args: json<Record<string, unknown>>("on_success_extra_args"),
    /** Unknown fields sent by clients, returned unchanged. */
    extra: json<Record<string, unknown>>("extra"),
    edited_by: text("edited_by").notNull(),
    edited_at: timestamp("edited_at").notNull(),
    /** Email of its last editor: runs have that user's rights. */
    email: text("email").notNull(),
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
    /** Why the last due run could not start. */
    error: text("error"),
    /** Consecutive failed runs. */
    failed_times: integer("failed_times").notNull().default(0),
    /** The last failed run, until the schedule has recovered. */
    failed_job: text("failed_job"),
    /** Consecutive successful runs since the last failure. */
    recovered_times: integer("recovered_times").notNull().default(0),
    /** Next run; null while disabled, or when no further time exists. */
    next_at: timestamp("next_at"),
  },
  (t) => [
    primaryKey({ columns: [t.workspace_id, t.path] }),
    index("schedules_due").on(t.next_at).where(sql`next_at IS NOT NULL`),
  ],
);

export type Schedule = typeof schedules.$inferSelect;
