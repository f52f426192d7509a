/** Folders that jobs have in common: each finds its own at `./shared`. */
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Child } from "./child.ts";

export function sharedFolder(directory: string, name: string): string {
  return join(directory, "shared", name);
}

/** @returns its path; it is there from now on */
export function makeShared(directory: string, name: string): string {
  const folder = sharedFolder(directory, name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Puts the folder in its place for the next job of a child, or takes away the one of the job before. */
export function share(child: Child, directory: string, name: string | undefined): void {
  if (child.shared === name) return;
  const link = join(child.folder, "shared");
  rmSync(link, { recursive: true, force: true });
  child.shared = name;
  if (name === undefined) return;
  symlinkSync(makeShared(directory, name), link);
}
