/** Dependency files in the archive of a workspace. */
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { type DependencyLanguage, dependencyFile } from "./files.ts";
import { listOf } from "./operations.ts";
import { workspaceDependencies } from "./tables.ts";

async function dependencyEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const rows = await listOf(ctx);
  return rows.map(({ language, name, content }) => ({
    name: dependencyFile(language as DependencyLanguage, name),
    content,
  }));
}

export const dependencySection: ArchiveSection = {
  tables: [workspaceDependencies],
  domain: "workspaces",
  isWanted: (options) => options.include_workspace_dependencies,
  entries: dependencyEntries,
};
