/** Finds and kills processes with all their descendants. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

interface ProcessFacts {
  pid: number;
  parent: number;
  session: number;
  /** `Z`: a zombie, which has ended but was not waited for. */
  state: string;
}

/** Lists all processes; empty without /proc. */
export function listProcesses(): ProcessFacts[] {
  const names = tolerateExit(() => readdirSync("/proc")) ?? [];
  return names
    .filter((name) => Number.isInteger(Number(name)))
    .map(readProcess)
    .filter((found) => found !== undefined);
}

/** Reads the facts of a process from /proc. @param name its entry in /proc. @returns undefined if it has exited */
export function readProcess(name: string): ProcessFacts | undefined {
  const text = tolerateExit(() => readFileSync(`/proc/${name}/stat`, "latin1"));
  if (text === undefined) return undefined;
  // The command name is in parentheses and may contain anything (proc(5)).
  const [state, parent, , session] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { pid: Number.parseInt(text, 10), state: state!, parent: Number(parent), session: Number(session) };
}

/**
 * Kills processes with all their descendants. They are stopped first, so that none can start a new process while its
 * descendants are being found.
 * @returns the killed process ids
 */
export function killTrees(roots: number[]): number[] {
  const doomed = new Set<number>();
  let fresh = roots;
  while (fresh.length > 0) {
    for (const pid of fresh) {
      doomed.add(pid);
      sendSignal(pid, "SIGSTOP");
    }
    fresh = findDescendants(doomed);
  }
  for (const pid of roots) sendSignal(-pid, "SIGKILL");
  for (const pid of doomed) sendSignal(pid, "SIGKILL");
  return [...doomed];
}

/** Whether the kernel lists the children of a thread (CONFIG_PROC_CHILDREN). */
const listsChildren = existsSync("/proc/thread-self/children");

function findDescendants(roots: Set<number>): number[] {
  const childrenOf = listsChildren ? readChildren : groupByParent();
  const found = new Set<number>();
  const open = [...roots];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    for (const pid of childrenOf(parent)) {
      if (roots.has(pid) || found.has(pid)) continue;
      found.add(pid);
      open.push(pid);
    }
  }
  return [...found];
}

/** Returns the children of a stopped process: while it runs, the list may miss some (proc(5)). */
function readChildren(pid: number): number[] {
  const threads = tolerateExit(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.flatMap((thread) => {
    const text = tolerateExit(() => readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1"));
    return (text?.match(/\d+/g) ?? []).map(Number);
  });
}

/** Returns undefined if the process has exited in the meantime, or there is no /proc. */
function tolerateExit<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Lists all processes by parent, which is slow if there are many. */
function groupByParent(): (pid: number) => number[] {
  const children = new Map<number, number[]>();
  for (const { pid, parent } of listProcesses()) {
    const siblings = children.get(parent);
    if (siblings) siblings.push(pid);
    else children.set(parent, [pid]);
  }
  return (pid) => children.get(pid) ?? [];
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Exited already.
  }
}
