/** Letting go of what is remembered of a workspace that is gone, or has another id. */
import { eq } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import { forgetFiles } from "../../../platform/cluster/processes.ts";
import { forgetFlows } from "../../code/flows/versions.ts";
import { forgetScripts } from "../../code/scripts/versions.ts";
import { forgetMembers } from "../../tenancy/people/members.ts";
import { forgetTokens } from "../../tenancy/tokens/cache.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { forgetEnvironment } from "../../tenancy/workspaces/environment.ts";
import { forgetErrorHandler } from "../../tenancy/workspaces/error-handler-cache.ts";
import { forgetKey } from "../../tenancy/workspaces/secrets.ts";
import { forgetUsage } from "../../tenancy/workspaces/usage.ts";
import { forgetRoutes } from "../../triggers/http/table.ts";

/** Hashes of the tokens that are bound to the workspace. */
export async function boundTokens(db: Reader, workspace_id: string): Promise<string[]> {
  const rows = await db
    .select({ hash: tokens.hash })
    .from(tokens)
    .where(eq(tokens.workspace_id, workspace_id));
  return rows.map(({ hash }) => hash);
}

/** Called after the commit. @param hashes of the tokens that were bound to it */
export function forgetWorkspace(app: App, workspace_id: string, hashes: readonly string[]): void {
  forgetMembers(app);
  forgetTokens(app, hashes);
  forgetKey(app, workspace_id);
  forgetScripts(app, workspace_id);
  forgetFlows(app, workspace_id);
  forgetRoutes(app);
  forgetEnvironment(app, workspace_id);
  forgetUsage(app, workspace_id);
  forgetErrorHandler(app, workspace_id);
  forgetFiles(app, workspace_id);
}
