import { and, eq } from "drizzle-orm";
import type { App } from "../../../platform/app/context.ts";
import { withFreshToken } from "../connections/refresh.ts";
import { variables } from "../variable-tables.ts";
import { openValue } from "./value.ts";

/**
 * The plain value of a variable for the server's own use. No rights are asked, since whoever calls has none to it, and
 * no audit row is left: the one who made the server use it was checked when saying so, and nobody is told the value.
 * @returns undefined when there is no such variable, or its time has passed
 * @throws BadRequest when the workspace's key does not open it
 */
export async function readValueForServer(
  app: App,
  workspace_id: string,
  path: string,
): Promise<string | undefined> {
  const [row] = await app.db.read
    .select()
    .from(variables)
    .where(and(eq(variables.workspace_id, workspace_id), eq(variables.path, path)));
  if (!row || (row.expires_at !== null && row.expires_at <= app.clock())) return undefined;
  return openValue(app, await withFreshToken(app, row));
}
