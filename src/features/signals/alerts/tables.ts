import { kit, sql } from "../../../database/kit.ts";
import type { SendFailure } from "./channels.ts";

const { table, text, integer, boolean, timestamp, json, serial, index } = kit;

/** What the operator must know of. Rows stay until they are old and acknowledged. */
export const criticalAlerts = table(
  "critical_alerts",
  {
    id: serial("id"),
    alert_type: text("alert_type").$type<"critical_error" | "recovered_critical_error">().notNull(),
    /** What happened, for programs: `worker_lost`. */
    kind: text("kind").notNull(),
    message: text("message").notNull(),
    workspace_id: text("workspace_id"),
    /** Alerts of one key are the same alert. */
    key: text("key").notNull(),
    /** How often it was raised. */
    count: integer("count").notNull(),
    created_at: timestamp("created_at").notNull(),
    last_raised_at: timestamp("last_raised_at").notNull(),
    acknowledged: boolean("acknowledged").notNull(),
    /** When the channels that were not told yet are tried next; null when nobody is to be told any more. */
    next_try_at: timestamp("next_try_at"),
    tries: integer("tries").notNull().default(0),
    /** Digests of the channels that were told. */
    told: json<string[]>("told"),
    /** The channels that could not be reached at the last try, and why. */
    send_failures: json<SendFailure[]>("send_failures"),
  },
  (t) => [
    index("critical_alerts_by_key").on(t.key, t.acknowledged),
    index("critical_alerts_untold").on(t.next_try_at).where(sql`next_try_at IS NOT NULL`),
  ],
);
