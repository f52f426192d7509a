import { tableKit } from "../../../database/kit.ts";

const { table, text, timestamp, json, serial, index } = tableKit;

/** The audit log. Rows are inserted in the transaction of the change, never updated, and deleted by retention. */
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
  },
  (t) => [index("audit_by_workspace").on(t.workspace_id, t.id)],
);
