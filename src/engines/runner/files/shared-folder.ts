/** Folders shared between jobs, which find theirs at `./shared`. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

export function getSharedFolderPath(directory: string, name: string): string {
  return join(directory, "shared", name);
}

/** Creates the folder if needed. @returns its path */
export function createSharedFolder(directory: string, name: string): string {
  const folder = getSharedFolderPath(directory, name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Links the folder for a child's first job; for later jobs, the child does so itself. */
export function linkSharedFolder(
  child: { readonly folder: string; shared: string | undefined },
  directory: string,
  name: string | undefined,
): void {
  child.shared = name;
  if (name !== undefined) symlinkSync(createSharedFolder(directory, name), join(child.folder, "shared"));
}
