import type { App } from "../../context.ts";
import type { Reader } from "../../database/database.ts";
import { decryptSecret } from "../workspaces/secrets.ts";
import type { Variable } from "./tables.ts";

/**
 * The plain value of a variable: the one place where a stored secret is opened, whoever reads it. Who may read it, and
 * the audit row of a secret that was read, are the callers' matter.
 * @throws BadRequest when the workspace's key does not open it
 */
export async function openValue(app: App, row: Variable, db: Reader = app.db.read): Promise<string> {
  return row.is_secret ? decryptSecret(app, db, row.workspace_id, row.value) : row.value;
}
