/** Letting go of what is remembered of a workspace that is gone, or has another id. */
import { eq } from "drizzle-orm";
import type { App } from "../../context.ts";
import type { Reader } from "../../database/database.ts";
import { forgetFlows } from "../flows/versions.ts";
import { forgetErrorHandler } from "../handlers/settings-cache.ts";
import { forgetRoutes } from "../http-triggers/table.ts";
import { forgetScripts } from "../scripts/versions.ts";
import { forgetTokens } from "../tokens/cache.ts";
import { tokens } from "../tokens/tables.ts";
import { forgetFiles } from "../workers/children.ts";
import { forgetEnvironment } from "./environment.ts";
import { forgetMembers } from "./members.ts";
import { forgetKey } from "./secrets.ts";
import { forgetUsage } from "./usage.ts";

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
