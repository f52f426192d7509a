/** Folders that every workspace has from its beginning, for what belongs to all its apps. */
import type { Folder } from "./folder-tables.ts";

const NAMES = ["app_custom", "app_groups", "app_themes"];

/** What stands for the folder while nothing was stored of it: everybody reads it, admins write to it. */
function defaultFolder(workspace_id: string, name: string): Folder {
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

export function isDefault(name: string): boolean {
  return NAMES.includes(name);
}

/** The folders of a workspace, by name, from the rows that are stored of it, all or one of them. */
export function withDefaults(workspace_id: string, rows: readonly Folder[], only?: string): Folder[] {
  const names = only === undefined ? NAMES : NAMES.filter((name) => name === only);
  const unsaid = names.filter((name) => !rows.some((row) => row.name === name));
  return [
    ...rows.filter((row) => !row.deleted),
    ...unsaid.map((name) => defaultFolder(workspace_id, name)),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
}
