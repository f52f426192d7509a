import type { OperationPolicies } from "../../../platform/http/execute.ts";
import { auditInsert } from "./rows.ts";

/** Records an audit entry in the transaction of the change that it describes. */
export const recordAudit: OperationPolicies["recordAudit"] = (tx, row) => tx.addToLog(auditInsert, row);
