/** Command line of bubblewrap around the launcher, which gives a child its own mounts and processes. */
import { lstatSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";
import { isPathWithin, listSpellings } from "./paths.ts";

interface Mounts {
  read: string[];
  write: string[];
  /** Working folder of the child. */
  home: string;
  /** The child changes to another user id than ours. */
  isForOthers: boolean;
}

/** Size of a child's own /tmp and /dev/shm, which are in memory. */
const TEMPORARY_BYTES = 64 * 1024 * 1024;

/** Processes around a child: bubblewrap itself, and the first one of its PID namespace. */
export const BWRAP_PROCESSES = 2;

/** Creates the arguments of bubblewrap. @returns the arguments before the command */
export function createBwrapArguments({ read: named, write, home, isForOthers }: Mounts): string[] {
  const wanted = new Set(named.filter((path) => !path.startsWith("/proc/")).flatMap(listSpellings));
  // What is inside a mounted folder is there already, and bubblewrap cannot mount over a link.
  const isInside = (path: string) =>
    [...wanted].some((folder) => folder !== path && isPathWithin(path, folder));
  const read = [...wanted].filter((path) => !isInside(path));
  const given = ["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--dev", "/dev", "--proc", "/proc"];
  for (const path of ["/tmp", "/dev/shm"]) {
    if (isForOthers) given.push("--perms", "1777");
    given.push("--size", String(TEMPORARY_BYTES), "--tmpfs", path);
  }
  if (isForOthers)
    for (const path of listParentFolders([...read, ...write])) given.push("--perms", "0755", "--dir", path);
  for (const path of read) given.push(...readOnlyArguments(path));
  for (const path of write) given.push("--bind", path, path);
  return [...given, "--chdir", home, "--"];
}

/** Lists the parent folders of paths, top first: bubblewrap creates missing ones accessible to its own user only. */
function listParentFolders(paths: string[]): Set<string> {
  const found = new Set<string>();
  const add = (path: string) => {
    const folder = dirname(path);
    if (folder === "/" || found.has(folder)) return;
    add(folder);
    found.add(folder);
  };
  for (const path of paths) add(path);
  return found;
}

/** Binds a path read-only; a top-level symbolic link stays a link. */
function readOnlyArguments(path: string): string[] {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (isLink && dirname(path) === "/") return ["--symlink", readlinkSync(path), path];
  return ["--ro-bind-try", path, path];
}
