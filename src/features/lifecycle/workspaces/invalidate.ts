/** Drops what is cached of a workspace that is gone, or has another id. */
import { eq } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import { forgetFiles } from "../../../platform/cluster/processes.ts";
import { forgetMembers } from "../../tenancy/people/members.ts";
import { forgetTokens } from "../../tenancy/tokens/cache.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";

/** Hashes of the tokens that are bound to the workspace. */
export async function workspaceTokens(db: Reader, workspace_id: string): Promise<string[]> {
  const rows = await db
    .select({ hash: tokens.hash })
    .from(tokens)
    .where(eq(tokens.workspace_id, workspace_id));
  return rows.map(({ hash }) => hash);
}

/** Called after the commit. @param hashes of the tokens that were bound to it */
export function invalidateWorkspace(app: App, workspace_id: string, hashes: readonly string[]): void {
  forgetMembers(app);
  forgetTokens(app, hashes);
  forgetFiles(app, workspace_id);
  for (const feature of app.features) feature.invalidateWorkspace?.(app, workspace_id);
}
