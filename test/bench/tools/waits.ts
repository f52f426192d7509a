/** Response times of a server. */
import { readFileSync } from "node:fs";

/** Returns the duration of the work in milliseconds. */
export async function measureTime(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/**
 * Milliseconds for which a process's main thread was runnable while others had the processor (proc(5),
 * schedstat).
 */
function crowdedOut(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
}

/** Returns how long a call took, without the processor time that other processes took meanwhile. */
export async function measureWaits(server_pid: number, work: () => Promise<unknown>): Promise<number> {
  const lost = () => crowdedOut(server_pid) + crowdedOut(process.pid);
  const before = lost();
  const took = await measureTime(work);
  return Math.max(0, took - (lost() - before));
}
