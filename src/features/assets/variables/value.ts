import type { Reader } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { openSecret } from "../../tenancy/workspaces/secrets.ts";
import type { Variable } from "../variable-tables.ts";

/** A secret that was encrypted elsewhere. */
export class Unreadable extends BadRequest {}

/**
 * The plain value of a variable: the one place where a stored secret is opened, whoever reads it. Who may read it, and
 * the audit row of a secret that was read, are the callers' matter.
 * @throws Unreadable when the workspace's key does not open it
 */
export async function openValue(app: App, row: Variable, db: Reader = app.db.read): Promise<string> {
  if (!row.is_secret) return row.value;
  const plain = await openSecret(app, db, row.workspace_id, row.value);
  if (plain !== undefined) return plain;
  throw new Unreadable(
    `secret ${row.path} cannot be read: it was encrypted elsewhere, and not with the key of workspace ${row.workspace_id}`,
    { hint: "set its value anew, or give the workspace the encryption key that it came with" },
  );
}
