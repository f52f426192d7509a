import { prepareBatchedStatement } from "../../../database/database.ts";
import { sql } from "../../../database/kit.ts";
import { continueWith } from "../../../lib/async/awaitable.ts";
import type { OperationPolicies } from "../../../platform/http/execute.ts";
import { auditLog } from "./tables.ts";

const namedParameter = sql.placeholder;

type Row = Omit<typeof auditLog.$inferSelect, "id">;

const insertStatement = prepareBatchedStatement<Row, unknown>(
  (q) =>
    q.insert(auditLog).values({
      workspace_id: namedParameter("workspace_id"),
      timestamp: namedParameter("timestamp"),
      username: namedParameter("username"),
      email: namedParameter("email"),
      operation: namedParameter("operation"),
      action_kind: namedParameter("action_kind"),
      resource: namedParameter("resource"),
      parameters: namedParameter("parameters"),
    } as unknown as Row),
  () => undefined,
);

/** Inserts an audit row in the transaction of the change it records. */
export const recordAudit: OperationPolicies["recordAudit"] = (tx, row) =>
  continueWith(
    tx.exec(insertStatement, {
      workspace_id: row.workspace_id,
      timestamp: row.timestamp,
      username: row.username,
      email: row.email,
      operation: row.audit.operation,
      action_kind: row.audit.action_kind,
      resource: row.resource ?? null,
      parameters: row.parameters ?? null,
    }),
    () => undefined,
  );
