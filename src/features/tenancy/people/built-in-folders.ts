/** Folders that exist in every workspace from its creation, for assets shared by all apps. */
import type { FolderRow } from "./folder-tables.ts";

const BUILT_IN_FOLDERS = ["app_custom", "app_groups", "app_themes"];

/**
 * Returns the folder's initial state, which applies as long as no row is stored: everybody may read it, admins may
 * write.
 */
function createBuiltInFolder(workspace_id: string, name: string): FolderRow {
  return {
    workspace_id,
    name,
    summary: "",
    display_name: null,
    extra: null,
    owners_implied: false,
    owners: [],
    extra_perms: { "g/all": false },
    created_by: "svc",
    edited_at: new Date(0),
    deleted: false,
  };
}

export function isBuiltInFolder(name: string): boolean {
  return BUILT_IN_FOLDERS.includes(name);
}

/**
 * Merges the stored folder rows of a workspace with the built-in folders, sorted by name. @param only restricts the
 * result to one folder
 */
export function withBuiltInFolders(
  workspace_id: string,
  rows: readonly FolderRow[],
  only?: string,
): FolderRow[] {
  const names = only === undefined ? BUILT_IN_FOLDERS : BUILT_IN_FOLDERS.filter((name) => name === only);
  const unsaid = names.filter((name) => !rows.some((row) => row.name === name));
  return [
    ...rows.filter((row) => !row.deleted),
    ...unsaid.map((name) => createBuiltInFolder(workspace_id, name)),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
}
