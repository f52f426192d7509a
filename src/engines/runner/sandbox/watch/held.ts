/** Files that have no name any more and last as long as a process has them open: no folder shows what they take. */
import { readdir, readlink, stat } from "node:fs/promises";
import { BLOCK } from "./disk.ts";

export interface Held {
  /** Of files in memory (memfd_create(2)), which no process's resident memory shows unless it is mapped. */
  memory: number;
  /** Of files that were removed. */
  disk: number;
}

/** Bytes of nameless files that these processes have open, each file once. @param most where counting ends */
export async function heldBytes(pids: number[], most: number): Promise<Held> {
  const held: Held = { memory: 0, disk: 0 };
  const seen = new Set<string>();
  for (const pid of pids) {
    const folder = `/proc/${pid}/fd`;
    for (const name of await readdir(folder).catch(() => [])) {
      const path = `${folder}/${name}`;
      const stats = await stat(path).catch(() => undefined);
      if (!stats?.isFile() || stats.nlink > 0) continue;
      const file = `${stats.dev}:${stats.ino}`;
      if (seen.has(file)) continue;
      seen.add(file);
      const target = await readlink(path).catch(() => "");
      held[target.startsWith("/memfd:") ? "memory" : "disk"] += stats.blocks * BLOCK;
      if (Math.max(held.memory, held.disk) > most) return held;
    }
  }
  return held;
}
