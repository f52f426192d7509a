/** The folder on this server that holds the stored files of a workspace. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { createRandomText } from "../../../lib/text/ids.ts";
import type { App, WorkspaceScope } from "../../../platform/app/context.ts";
import { workspaces } from "./tables.ts";

/** Returns the parent folder of all workspaces' folders. */
export const getStorageDirectory = ({ config }: App): string => join(config.data_dir, "storage");

/** Returns the folder of a workspace's files. It stays the same when the workspace's id changes. */
export async function getWorkspaceDirectory({ app, caller }: WorkspaceScope): Promise<string> {
  const { workspace_id } = caller.member;
  const [row] = await app.db.read
    .select({ folder: workspaces.storage_folder })
    .from(workspaces)
    .where(eq(workspaces.id, workspace_id));
  return join(getStorageDirectory(app), row?.folder ?? workspace_id);
}

/**
 * Chooses a folder for a new workspace that contains no files of another one. Such files may belong to a renamed
 * workspace, or remain from an interrupted deletion.
 * @returns null if the workspace's id can be used as its name
 */
export async function createStorageFolderName(app: App, workspace_id: string): Promise<string | null> {
  const [used] = await app.db.read
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(eq(workspaces.storage_folder, workspace_id));
  const isFree = !used && !existsSync(join(getStorageDirectory(app), workspace_id));
  return isFree ? null : `${workspace_id}.${createRandomText(8)}`;
}

/** Deletes a workspace's files on this server. Objects in a bucket stay. */
export async function removeStorageFolder(app: App, folder: string): Promise<void> {
  await rm(join(getStorageDirectory(app), folder), { recursive: true, force: true });
}
