/**
 * Processes of scripts that a server has left behind which was killed together with its watchdog: the next one that
 * holds the data directory ends them before it starts any of its own.
 */
import { readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import type { UserIdRange } from "../sandbox/users/user-ids.ts";
import { killTrees, listProcesses } from "./kill-tree.ts";

/** Processes that are killed are gone within a moment, unless the kernel is busy with them. */
const END_MS = 2_000;
/** Each round ends what was started while the one before looked; more are nobody's accident. */
const MAX_ROUNDS = 20;

/** @param directory the runner's · @param range user ids that none but scripts of this data directory have */
export async function endLeftovers(directory: string, range: UserIdRange | undefined): Promise<void> {
  const children = join(directory, "children");
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = leftovers(children, range);
    if (found.length === 0) return;
    const killed = killTrees(found);
    const until = Date.now() + END_MS;
    while (killed.some(isAlive) && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function leftovers(children: string, range: UserIdRange | undefined): number[] {
  return listProcesses()
    .filter(({ pid, state }) => pid !== process.pid && state !== "Z" && isLeftover(pid, children, range))
    .map(({ pid }) => pid);
}

/** Told by its user, by the folder that it is in, or by the home that it was started with, below that of all children. */
function isLeftover(pid: number, children: string, range: UserIdRange | undefined): boolean {
  const entry = `/proc/${pid}`;
  try {
    const { uid } = statSync(entry);
    if (range && range.first < uid && uid <= range.last) return true;
    if (uid !== process.geteuid?.()) return false;
    if (readlinkSync(`${entry}/cwd`).startsWith(`${children}/`)) return true;
    return readFileSync(`${entry}/environ`, "latin1").includes(`\0HOME=${children}/`);
  } catch {
    // Gone in between, or none that we may look at.
    return false;
  }
}

function isAlive(pid: number): boolean {
  return listProcesses().some((each) => each.pid === pid && each.state !== "Z");
}
