/** Invalidates all caches of a workspace that was deleted or has a new id. */
import { eq } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import { removeVersionFiles } from "../../../platform/cluster/processes.ts";
import { invalidateMembers } from "../../tenancy/people/members.ts";
import { invalidateTokens } from "../../tenancy/tokens/cache.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";

/** Returns the hashes of tokens bound to the workspace. */
export async function listWorkspaceTokens(db: Reader, workspace_id: string): Promise<string[]> {
  const rows = await db
    .select({ hash: tokens.hash })
    .from(tokens)
    .where(eq(tokens.workspace_id, workspace_id));
  return rows.map(({ hash }) => hash);
}

/** Invalidates all caches of a workspace; call it after the commit. @param hashes of the tokens bound to it */
export function invalidateWorkspace(app: App, workspace_id: string, hashes: readonly string[]): void {
  invalidateMembers(app);
  invalidateTokens(app, hashes);
  removeVersionFiles(app, workspace_id);
  for (const feature of app.features) feature.invalidateWorkspace?.(app, workspace_id);
}
