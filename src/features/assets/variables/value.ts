import type { Reader } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { decryptStoredSecret } from "../../tenancy/workspaces/secrets.ts";
import type { Variable } from "../variable-tables.ts";

/** Thrown for a secret that was encrypted with an unknown key. */
export class UnreadableSecret extends BadRequest {}

/**
 * Returns the plain value of a variable. This is the only place where stored secrets are decrypted; callers check
 * rights and write audit rows.
 * @throws UnreadableSecret if the workspace's key does not decrypt it
 */
export async function decryptValue(app: App, row: Variable, db: Reader = app.db.read): Promise<string> {
  if (!row.is_secret) return row.value;
  const plain = await decryptStoredSecret(app, db, row.workspace_id, row.value);
  if (plain !== undefined) return plain;
  throw new UnreadableSecret(
    `secret ${row.path} cannot be read: it was encrypted elsewhere, and not with the key of workspace ${row.workspace_id}`,
    { hint: "set its value anew, or give the workspace the encryption key that it came with" },
  );
}

/** Whether a value could be read; false if a secret in it was encrypted with an unknown key. */
export async function isReadableSecret(reading: Promise<unknown>): Promise<boolean> {
  try {
    await reading;
    return true;
  } catch (error) {
    for (let cause = error; cause instanceof Error; cause = cause.cause)
      if (cause instanceof UnreadableSecret) return false;
    throw error;
  }
}
