/** Folders on which no file can be executed. */
import { afterAll, beforeAll } from "bun:test";
import { mkdirSync, mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const run = (command: string[]) => Bun.spawnSync(command, { stderr: "ignore" }).exitCode === 0;
const mount = (path: string) => run(["mount", "-t", "tmpfs", "-o", "noexec,size=64m", "tmpfs", path]);
const unmount = (path: string) => run(["umount", "-l", path]);

/** Returns whether this machine lets tests mount file systems: only root may, and not in every container. */
export function canMount(): boolean {
  if (!Bun.which("mount")) return false;
  const path = mkdtempSync(join(tmpdir(), "svc-mount-"));
  try {
    return mount(path) && unmount(path);
  } finally {
    rmdirSync(path);
  }
}

/** Mounts a file system on a folder before the tests of the calling file, and removes it after them. */
export function useNoexecFolder(path: string): void {
  // Not while the file is loaded: a run of other tests would leave it mounted, without the hook after them.
  beforeAll(() => {
    mkdirSync(path, { recursive: true });
    if (!mount(path)) throw new Error(`nothing could be mounted on ${path}`);
  });
  afterAll(() => void unmount(path));
}
