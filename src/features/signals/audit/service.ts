import { sharedStatement } from "../../../database/database.ts";
import { sql } from "../../../database/kit.ts";
import type { Hooks } from "../../../platform/http/execute.ts";
import { auditLog } from "./tables.ts";

const p = sql.placeholder;

type Row = Omit<typeof auditLog.$inferSelect, "id">;

const insert = sharedStatement<Row, unknown>(
  (q) =>
    q.insert(auditLog).values({
      workspace_id: p("workspace_id"),
      timestamp: p("timestamp"),
      username: p("username"),
      email: p("email"),
      operation: p("operation"),
      action_kind: p("action_kind"),
      resource: p("resource"),
      parameters: p("parameters"),
    } as unknown as Row),
  () => undefined,
);

/** Adds a row to the transaction of the change it tells of. */
export const recordAudit: Hooks["recordAudit"] = async (tx, row) => {
  await tx.exec(insert, {
    workspace_id: row.workspace_id,
    timestamp: row.timestamp,
    username: row.username,
    email: row.email,
    operation: row.audit.operation,
    action_kind: row.audit.action_kind,
    resource: row.resource ?? null,
    parameters: row.parameters ?? null,
  });
};
