import { and, eq } from "drizzle-orm";
import type { App } from "../../../platform/app/context.ts";
import { findOtherPath } from "../../tenancy/people/renamings.ts";
import { ensureFreshToken } from "../connections/refresh-token.ts";
import { variables } from "../variable-tables.ts";
import { decryptValue } from "./value.ts";

/**
 * Returns the plain value of a variable for the server's own use, without checking rights or writing an audit row. The
 * configuration that uses it was checked when it was stored, and nobody is shown the value.
 * @returns undefined if there is no such variable, or it has expired
 * @throws BadRequest if the workspace's key does not decrypt it
 */
export async function readVariableForServer(
  app: App,
  workspace_id: string,
  path: string,
): Promise<string | undefined> {
  const at = (path: string) =>
    app.db.read
      .select()
      .from(variables)
      .where(and(eq(variables.workspace_id, workspace_id), eq(variables.path, path)));
  let [row] = await at(path);
  const elsewhere = row ? undefined : findOtherPath(app, workspace_id, path);
  if (elsewhere !== undefined) [row] = await at(elsewhere);
  if (!row || (row.expires_at !== null && row.expires_at <= app.clock())) return undefined;
  return decryptValue(app, await ensureFreshToken(app, row));
}
