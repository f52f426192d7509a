import { kit } from "../../../database/kit.ts";

const { table, text, integer, timestamp, index, primaryKey } = kit;

/**
 * - workspace: a job has failed or was canceled, which the workspace's error handler may have to know of
 * - instance: a job has failed, which the instance's error handler has to know of
 * - failure, recovery, success: what a schedule's own handler has to know of
 * - handler: a handler itself has failed, which the operator has to know of
 */
export type Occasion = "workspace" | "instance" | "failure" | "recovery" | "success" | "handler";

/** Ends of jobs that somebody is to be told of, each stored together with the end: gone when a handler was started. */
export const handlerCalls = table(
  "handler_calls",
  {
    /** The job that has ended. */
    job_id: text("job_id").notNull(),
    occasion: text("occasion").$type<Occasion>().notNull(),
    workspace_id: text("workspace_id").notNull(),
    schedule_path: text("schedule_path"),
    /** How many runs of the schedule in a row have failed, or have come to a good end since one did. */
    times: integer("times"),
    /** The run whose failure a schedule has recovered from. */
    failed_job: text("failed_job"),
    created_at: timestamp("created_at").notNull(),
    /** When it is tried, for the first time or again. */
    next_at: timestamp("next_at").notNull(),
    attempts: integer("attempts").notNull(),
  },
  (t) => [primaryKey({ columns: [t.job_id, t.occasion] }), index("handler_calls_due").on(t.next_at)],
);

export type HandlerCall = typeof handlerCalls.$inferSelect;
