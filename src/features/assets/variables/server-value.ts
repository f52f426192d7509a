import { and, eq } from "drizzle-orm";
import type { Permissions } from "../../../platform/access/permissions.ts";
import type { App } from "../../../platform/app/context.ts";
import { findAtEitherPath } from "../../tenancy/people/renamings.ts";
import { ensureFreshToken } from "../connections/refresh-token.ts";
import { variables } from "../variable-tables.ts";
import { decryptValue } from "./value.ts";

/**
 * Returns the plain value of a variable for the server's own use, without checking rights or writing an audit row. The
 * configuration that uses it was checked when it was stored, and nobody is shown the value.
 * @param check called with the variable before it is decrypted
 * @returns undefined if there is no such variable, or it has expired
 * @throws BadRequest if the workspace's key does not decrypt it
 */
export async function readVariableForServer(
  app: App,
  workspace_id: string,
  path: string,
  check?: (variable: { path: string; extra_perms: Permissions }) => void,
): Promise<string | undefined> {
  const row = await findAtEitherPath(app, workspace_id, path, async (path) => {
    const its = and(eq(variables.workspace_id, workspace_id), eq(variables.path, path));
    return (await app.db.read.select().from(variables).where(its))[0];
  });
  if (!row || (row.expires_at !== null && row.expires_at <= app.clock())) return undefined;
  check?.(row);
  return decryptValue(app, await ensureFreshToken(app, row));
}
