import { mkdirSync } from "node:fs";

/**
 * Mounts a file system on which no file can be executed. Only root may.
 * @param path of the folder, which is created
 * @returns a function that removes the mount; undefined if this machine refuses it
 */
export function mountNoexec(path: string): (() => void) | undefined {
  mkdirSync(path, { recursive: true });
  const run = (command: string[]) => Bun.spawnSync(command, { stderr: "ignore" }).exitCode === 0;
  if (!Bun.which("mount") || !run(["mount", "-t", "tmpfs", "-o", "noexec,size=64m", "tmpfs", path])) return;
  return () => void run(["umount", "-l", path]);
}
