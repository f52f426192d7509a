/** Folders that jobs have in common: each finds its own at `./shared`. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

export function sharedFolder(directory: string, name: string): string {
  return join(directory, "shared", name);
}

/** @returns its path; it is there from now on */
export function makeShared(directory: string, name: string): string {
  const folder = sharedFolder(directory, name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Puts the folder in its place for the first job of a child; for those after it, the child does. */
export function share(
  child: { readonly folder: string; shared: string | undefined },
  directory: string,
  name: string | undefined,
): void {
  child.shared = name;
  if (name !== undefined) symlinkSync(makeShared(directory, name), join(child.folder, "shared"));
}
