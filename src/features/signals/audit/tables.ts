import { tableKit } from "../../../database/kit.ts";

const { table, text, timestamp, json, serial, index } = tableKit;

/** An audit entry that shares its row with others: its time in Unix milliseconds, and its parameters. */
export type Repeat = [timestamp_ms: number, parameters: Record<string, string> | null];

/**
 * The audit log. Rows are inserted in the transaction of the change, never updated, and deleted by retention. Calls
 * that differ only in time and parameters, such as many of one webhook, share a row if they are committed together
 * (`rows.ts`).
 */
export const auditLog = table(
  "audit_log",
  {
    id: serial("id"),
    workspace_id: text("workspace_id").notNull(),
    timestamp: timestamp("timestamp").notNull(),
    username: text("username").notNull(),
    email: text("email").notNull(),
    operation: text("operation").notNull(),
    action_kind: text("action_kind").notNull(),
    resource: text("resource"),
    parameters: json<Record<string, string>>("parameters"),
    /** Earlier entries of this row, in order. With `n` of them, their ids are those from `id - n` on. */
    repeats: json<Repeat[]>("repeats"),
  },
  (t) => [index("audit_by_workspace").on(t.workspace_id, t.id)],
);
