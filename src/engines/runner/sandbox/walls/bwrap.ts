/** Bubblewrap around the launcher: mounts and processes that are a child's own. */
import { lstatSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";

interface Mounts {
  read: string[];
  write: string[];
  /** Where the child begins. */
  home: string;
  /** It becomes another user than ours. */
  isForOthers: boolean;
}

/** Most bytes of a child's own /tmp and /dev/shm, which are memory. */
const TEMPORARY_BYTES = 64 * 1024 * 1024;

/** Processes that stand around a child: bubblewrap itself, and the first one of the namespace that it makes. */
export const BWRAP_PROCESSES = 2;

/** @returns the arguments before the command */
export function bwrapArguments({ read, write, home, isForOthers }: Mounts): string[] {
  const given = ["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--dev", "/dev", "--proc", "/proc"];
  for (const path of ["/tmp", "/dev/shm"]) {
    if (isForOthers) given.push("--perms", "1777");
    given.push("--size", String(TEMPORARY_BYTES), "--tmpfs", path);
  }
  if (isForOthers)
    for (const path of above([...read, ...write])) given.push("--perms", "0755", "--dir", path);
  for (const path of read) if (!path.startsWith("/proc/")) given.push(...readOnly(path));
  for (const path of write) given.push("--bind", path, path);
  return [...given, "--chdir", home, "--"];
}

/** The folders that lead to paths, from the top: bubblewrap makes those that are missing for its own user alone. */
function above(paths: string[]): Set<string> {
  const found = new Set<string>();
  const add = (path: string) => {
    const folder = dirname(path);
    if (folder === "/" || found.has(folder)) return;
    add(folder);
    found.add(folder);
  };
  for (const path of paths) if (!path.startsWith("/proc/")) add(path);
  return found;
}

/** Where a system's folder is a link into another, it is one in here as well. */
function readOnly(path: string): string[] {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (isLink && dirname(path) === "/") return ["--symlink", readlinkSync(path), path];
  return ["--ro-bind-try", path, path];
}
