/** Unlinked files that remain while a process has them open; no folder shows their usage. */
import { readdir, readlink, stat } from "node:fs/promises";
import { BLOCK_BYTES } from "./disk.ts";

export interface UnlinkedUsage {
  /** Bytes of memory files (memfd_create(2)), which resident memory includes only if mapped. */
  memory: number;
  /** Bytes of removed files. */
  disk: number;
}

/** Measures unlinked files open in these processes, each file once. @param limit limit after which measuring stops */
export async function measureUnlinkedFiles(pids: number[], limit: number): Promise<UnlinkedUsage> {
  const held: UnlinkedUsage = { memory: 0, disk: 0 };
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
      held[target.startsWith("/memfd:") ? "memory" : "disk"] += stats.blocks * BLOCK_BYTES;
      if (Math.max(held.memory, held.disk) > limit) return held;
    }
  }
  return held;
}
