/** What a process and everything below it take, read from /proc (proc(5)). */
import { readdirSync, readFileSync } from "node:fs";

export interface Usage {
  processes: number;
  /** Resident memory, what processes share counted with each of them. */
  bytes: number;
  /** Processor time of those that run, and of those they have waited for. */
  cpu_s: number;
}

/** Pages and clock ticks as all Linux systems show them on the processors that are built for. */
const PAGE = pageBytes();
const TICKS = 100;
/** A tree that is larger is not looked at further: it is over every limit already. */
const MAX_PROCESSES = 5_000;

/** Resident memory of one process; 0 when it is gone. One read. */
export function residentBytes(pid: number): number {
  const text = readText(`/proc/${pid}/statm`);
  return text === undefined ? 0 : Number(text.split(" ")[1]) * PAGE;
}

/** The process and everything below it. */
export function treeOf(root: number): number[] {
  const found = [root];
  for (let at = 0; at < found.length && found.length < MAX_PROCESSES; at++)
    found.push(...childrenOf(found[at]!));
  return found;
}

export function usageOf(pids: number[]): Usage {
  const usage: Usage = { processes: 0, bytes: 0, cpu_s: 0 };
  for (const pid of pids) {
    const text = readText(`/proc/${pid}/stat`);
    if (text === undefined) continue;
    // The command's name stands in parentheses and may hold anything; the third field comes after it.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const field = (number: number) => Number(fields[number - 3]);
    usage.processes++;
    usage.bytes += field(24) * PAGE;
    usage.cpu_s += (field(14) + field(15) + field(16) + field(17)) / TICKS;
  }
  return usage;
}

/** Resident memory, each page counted once. Takes the system a while: for when the simple sum is too much. */
export function exactBytes(pids: number[]): number {
  let bytes = 0;
  for (const pid of pids) {
    const share = /^Pss:\s+(\d+) kB/m.exec(readText(`/proc/${pid}/smaps_rollup`) ?? "")?.[1];
    bytes += share === undefined ? residentBytes(pid) : Number(share) * 1024;
  }
  return bytes;
}

/** Each thread lists what it has started. */
function childrenOf(pid: number): number[] {
  const found: number[] = [];
  for (const thread of readNames(`/proc/${pid}/task`)) {
    const text = readText(`/proc/${pid}/task/${thread}/children`);
    if (text) found.push(...text.trim().split(" ").map(Number));
  }
  return found;
}

function readNames(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // Gone in between.
    return undefined;
  }
}

/** The page size of the auxiliary vector (getauxval(3)): some arm64 systems have larger ones. */
function pageBytes(): number {
  const AT_PAGESZ = 6n;
  try {
    const bytes = readFileSync("/proc/self/auxv");
    const words = new BigUint64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    for (let at = 0; at + 1 < words.length; at += 2)
      if (words[at] === AT_PAGESZ) return Number(words[at + 1]);
  } catch {
    // Not Linux.
  }
  return 4_096;
}
