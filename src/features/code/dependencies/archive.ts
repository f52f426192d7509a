/** Dependency files in the archive of a workspace. */
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { type DependencyLanguage, getDependencyFileName } from "./dependency-files.ts";
import { listDependencies } from "./operations.ts";
import { workspaceDependencies } from "./tables.ts";

async function listDependencyEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const rows = await listDependencies(ctx);
  return rows.map(({ language, name, content }) => ({
    name: getDependencyFileName(language as DependencyLanguage, name),
    content,
  }));
}

export const dependencySection: ArchiveSection = {
  tables: [workspaceDependencies],
  domain: "workspaces",
  isWanted: (options) => options.include_workspace_dependencies,
  entries: listDependencyEntries,
};
