/** Resource usage of a process tree, from /proc (proc(5)). */
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessUsage {
  processes: number;
  /** Resident memory; shared pages count once per process. */
  bytes: number;
  /** Processor time, including that of children already waited for. */
  cpu_s: number;
}

/** Page size, and clock ticks per second as on all supported Linux systems. */
const PAGE_BYTES = readPageSize();
const TICKS_PER_SECOND = 100;
/** Larger trees are not measured further; they exceed every limit. */
const MAX_PROCESSES = 5_000;

/** Returns a process's resident memory; 0 if it has exited. */
export function readResidentBytes(pid: number): number {
  const text = readText(`/proc/${pid}/statm`);
  return text === undefined ? 0 : Number(text.split(" ")[1]) * PAGE_BYTES;
}

/** Lists a process and all its descendants. */
export function listProcessTree(root: number): number[] {
  const found = [root];
  for (let at = 0; at < found.length && found.length < MAX_PROCESSES; at++)
    found.push(...listChildren(found[at]!));
  return found;
}

export function measureProcesses(pids: number[]): ProcessUsage {
  const usage: ProcessUsage = { processes: 0, bytes: 0, cpu_s: 0 };
  for (const pid of pids) {
    const text = readText(`/proc/${pid}/stat`);
    if (text === undefined) continue;
    // The command name is in parentheses and may contain anything; field 3 follows it.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const field = (number: number) => Number(fields[number - 3]);
    usage.processes++;
    usage.bytes += field(24) * PAGE_BYTES;
    usage.cpu_s += (field(14) + field(15) + field(16) + field(17)) / TICKS_PER_SECOND;
  }
  return usage;
}

/**
 * Returns resident memory with shared pages counted once. This is slow, so it is used only when the simple sum
 * exceeds the limit.
 */
export function readProportionalBytes(pids: number[]): number {
  let bytes = 0;
  for (const pid of pids) {
    const share = /^Pss:\s+(\d+) kB/m.exec(readText(`/proc/${pid}/smaps_rollup`) ?? "")?.[1];
    bytes += share === undefined ? readResidentBytes(pid) : Number(share) * 1024;
  }
  return bytes;
}

/** Lists a process's children, by thread. */
export function listChildren(pid: number): number[] {
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
    // Exited meanwhile.
    return undefined;
  }
}

/** Reads the page size from the auxiliary vector (getauxval(3)); some arm64 systems have larger pages. */
function readPageSize(): number {
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
