/** Bubblewrap around the launcher: mounts and processes that are a child's own. */
import { lstatSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";

interface Mounts {
  read: string[];
  write: string[];
  /** Where the child begins. */
  home: string;
}

/** Most bytes of a child's own /tmp and /dev/shm, which are memory. */
const TEMPORARY_BYTES = 64 * 1024 * 1024;

/** Processes that stand around a child: bubblewrap itself, and the first one of the namespace that it makes. */
export const BWRAP_PROCESSES = 2;

/** @returns the arguments before the command */
export function bwrapArguments({ read, write, home }: Mounts): string[] {
  const given = ["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--dev", "/dev", "--proc", "/proc"];
  for (const path of ["/tmp", "/dev/shm"]) given.push("--size", String(TEMPORARY_BYTES), "--tmpfs", path);
  for (const path of read) if (!path.startsWith("/proc/")) given.push(...readOnly(path));
  for (const path of write) given.push("--bind", path, path);
  return [...given, "--chdir", home, "--"];
}

/** Where a system's folder is a link into another, it is one in here as well. */
function readOnly(path: string): string[] {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (isLink && dirname(path) === "/") return ["--symlink", readlinkSync(path), path];
  return ["--ro-bind-try", path, path];
}
