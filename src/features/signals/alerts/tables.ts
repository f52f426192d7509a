import { sql, tableKit } from "../../../database/kit.ts";
import type { SendFailure } from "./channels.ts";

const { table, text, integer, boolean, timestamp, json, serial, index } = tableKit;

/** Critical alerts. Rows are deleted some time after they were acknowledged. */
export const criticalAlerts = table(
  "critical_alerts",
  {
    id: serial("id"),
    alert_type: text("alert_type").$type<"critical_error" | "recovered_critical_error">().notNull(),
    /** Machine-readable kind, such as `worker_lost`. */
    kind: text("kind").notNull(),
    message: text("message").notNull(),
    workspace_id: text("workspace_id"),
    /** Identifies the alert: kind, workspace and subject. */
    key: text("key").notNull(),
    /** How often it was raised. */
    count: integer("count").notNull(),
    created_at: timestamp("created_at").notNull(),
    last_raised_at: timestamp("last_raised_at").notNull(),
    acknowledged: boolean("acknowledged").notNull(),
    /** When the remaining channels are tried next; null if no notification is pending. */
    next_try_at: timestamp("next_try_at"),
    tries: integer("tries").notNull().default(0),
    /** Hashes of the channels that were notified. */
    told: json<string[]>("told"),
    /** Channels that the last attempt could not reach, with the reason. */
    send_failures: json<SendFailure[]>("send_failures"),
  },
  (t) => [
    index("critical_alerts_by_key").on(t.key, t.acknowledged),
    index("critical_alerts_untold").on(t.next_try_at).where(sql`next_try_at IS NOT NULL`),
  ],
);
