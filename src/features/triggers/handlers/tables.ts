import { tableKit } from "../../../database/kit.ts";

const { table, text, integer, timestamp, index, primaryKey } = tableKit;

/**
 * Why a handler is called:
 * - workspace: a job failed or was canceled, for the workspace's error handler
 * - instance: a job failed, for the instance's error handler
 * - workspace_success: a job succeeded, for the workspace's success handler
 * - failure, recovery, success: for the schedule's own handlers
 * - handler: a handler itself failed, which raises an alert
 */
export type Occasion =
  | "workspace"
  | "instance"
  | "workspace_success"
  | "failure"
  | "recovery"
  | "success"
  | "handler";

/**
 * The outbox of handlers: one row per handler to start, inserted with the job's completion and deleted when it is
 * started.
 */
export const handlerCalls = table(
  "handler_calls",
  {
    /** The completed job. */
    job_id: text("job_id").notNull(),
    occasion: text("occasion").$type<Occasion>().notNull(),
    workspace_id: text("workspace_id").notNull(),
    schedule_path: text("schedule_path"),
    /** Consecutive failed runs of the schedule, or successful ones since the last failure. */
    times: integer("times"),
    /** The failed run that the schedule recovered from. */
    failed_job: text("failed_job"),
    created_at: timestamp("created_at").notNull(),
    /** Time of the next attempt. */
    next_at: timestamp("next_at").notNull(),
    attempts: integer("attempts").notNull(),
  },
  (t) => [primaryKey({ columns: [t.job_id, t.occasion] }), index("handler_calls_due").on(t.next_at)],
);

export type HandlerCall = typeof handlerCalls.$inferSelect;
