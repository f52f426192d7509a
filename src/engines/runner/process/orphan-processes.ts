/**
 * Kills script processes of a server that was killed together with its watchdog. The next server on the data directory
 * does so before it starts its own.
 */
import { readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { pollUntil } from "../../../lib/async/sleep.ts";
import type { UserIdRange } from "../sandbox/users/user-ids.ts";
import { killTrees, listProcesses } from "./kill-tree.ts";

/** Killed processes disappear at once, unless the kernel is busy with them. */
const KILL_TIMEOUT_MS = 2_000;
/** Each round kills what was started during the one before; more rounds would mean deliberate evasion. */
const MAX_ROUNDS = 20;

/**
 * Kills the orphans.
 * @param directory the runner's folder
 * @param range user ids used only by scripts of this data directory
 */
export async function killOrphans(directory: string, range: UserIdRange | undefined): Promise<void> {
  const runtime = join(directory, "runtime");
  const children = join(directory, "children");
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = findOrphans({ children, runtime }, range);
    if (found.length === 0) return;
    const killed = killTrees(found);
    await pollUntil(() => !killed.some(isAlive), KILL_TIMEOUT_MS);
  }
}

interface RunnerFolders {
  children: string;
  runtime: string;
}

function findOrphans(folders: RunnerFolders, range: UserIdRange | undefined): number[] {
  return listProcesses()
    .filter(({ pid, state }) => pid !== process.pid && state !== "Z" && isOrphan(pid, folders, range))
    .map(({ pid }) => pid);
}

/** Recognises orphans by their user id, program, working folder, or the HOME they were started with. */
function isOrphan(
  pid: number,
  { children, runtime }: RunnerFolders,
  range: UserIdRange | undefined,
): boolean {
  const entry = `/proc/${pid}`;
  try {
    // A process that hides its memory hides everything else as well, and belongs to root.
    if (isChildProgram(readFileSync(`${entry}/cmdline`, "latin1"), runtime)) return true;
    const { uid } = statSync(entry);
    if (range && range.first < uid && uid <= range.last) return true;
    if (uid !== process.geteuid?.()) return false;
    if (readlinkSync(`${entry}/cwd`).startsWith(`${children}/`)) return true;
    return readFileSync(`${entry}/environ`, "latin1").includes(`\0HOME=${children}/`);
  } catch {
    // Exited meanwhile, or not accessible.
    return false;
  }
}

function isChildProgram(command: string, runtime: string): boolean {
  const file = command.split("\0")[2] ?? "";
  return file.startsWith(`${runtime}/`) && /\/child\/program\.[jt]s$/.test(file);
}

function isAlive(pid: number): boolean {
  return listProcesses().some((each) => each.pid === pid && each.state !== "Z");
}
