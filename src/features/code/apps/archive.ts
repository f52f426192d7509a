/** Apps in the archive of a workspace. */
import { and, asc, eq, getTableColumns } from "drizzle-orm";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { readableBy } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { createJsonEntry } from "../../tenancy/rights/archive-entry.ts";
import { apps, appVersions, rawApps } from "./tables.ts";

/** Exports apps made of components, and raw apps (one bundle). */
async function listAppEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { member } = ctx.caller;
  const { read } = ctx.app.db;
  const rows = await read
    .select({ ...getTableColumns(apps), value: appVersions.value })
    .from(apps)
    .innerJoin(appVersions, eq(appVersions.id, apps.version))
    .where(
      and(eq(apps.workspace_id, member.workspace_id), eq(apps.draft_only, false), readableBy(member, apps)),
    )
    .orderBy(asc(apps.path));
  const bundles = await read
    .select()
    .from(rawApps)
    .where(and(eq(rawApps.workspace_id, member.workspace_id), readableBy(member, rawApps)))
    .orderBy(asc(rawApps.path));
  return [
    ...rows.map(({ path, summary, value, policy, custom_path, raw_app }) => {
      // On import, the importing user becomes its `on_behalf_of`.
      const { on_behalf_of: _, on_behalf_of_email: __, ...kept } = policy;
      return createJsonEntry(`${path}.${raw_app ? "raw_app" : "app"}.json`, {
        summary,
        value: raw_app ? withCurrentRunnables(value) : value,
        policy: kept,
        custom_path,
      });
    }),
    ...bundles.map(({ path, summary, value }) => createJsonEntry(`${path}.raw_app.json`, { summary, value })),
  ];
}

/**
 * Converts runnables to the form of the newest version: `wmill` sends paths as `runnableByPath` to servers of an old
 * version, but reads only `path` from an archive. Without the conversion each sync would find a difference.
 */
function withCurrentRunnables(value: unknown): unknown {
  if (!isRecord(value) || !isRecord(value.runnables)) return value;
  const runnables = Object.entries(value.runnables).map(([id, runnable]) => [
    id,
    isRecord(runnable) && runnable.type === "runnableByPath" ? { ...runnable, type: "path" } : runnable,
  ]);
  return { ...value, runnables: Object.fromEntries(runnables) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const appSection: ArchiveSection = {
  tables: [apps, appVersions, rawApps],
  domain: "apps",
  entries: listAppEntries,
};
