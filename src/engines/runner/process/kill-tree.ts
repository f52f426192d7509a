/** Finding and ending every process below others. */
import { readdirSync, readFileSync } from "node:fs";

interface ProcessFacts {
  pid: number;
  parent: number;
  session: number;
  /** `Z` is a process that has ended and was not waited for yet. */
  state: string;
}

/** Every process the system lists; empty where there is no /proc. */
export function listProcesses(): ProcessFacts[] {
  const found: ProcessFacts[] = [];
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return found;
  }
  for (const name of names) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    try {
      // The command's name stands in parentheses and may hold anything (proc(5)).
      const text = readFileSync(`/proc/${name}/stat`, "latin1");
      const [state, parent, , session] = text.slice(text.lastIndexOf(")") + 2).split(" ");
      found.push({ pid, state: state!, parent: Number(parent), session: Number(session) });
    } catch {
      // Gone in between.
    }
  }
  return found;
}

/**
 * Kills processes with everything below them. They are stopped first, so that nothing new is started while they are
 * being found: the system starts nothing for a process that a signal waits for.
 * @returns the process ids that were killed
 */
export function killTrees(roots: number[]): number[] {
  const doomed = new Set<number>();
  let fresh = roots;
  while (fresh.length > 0) {
    for (const pid of fresh) {
      doomed.add(pid);
      signal(pid, "SIGSTOP");
    }
    fresh = below(doomed);
  }
  for (const pid of roots) signal(-pid, "SIGKILL");
  for (const pid of doomed) signal(pid, "SIGKILL");
  return [...doomed];
}

/** Everything below these, of one look at all processes: a look takes long where there are many of them. */
function below(roots: Set<number>): number[] {
  const children = new Map<number, number[]>();
  for (const { pid, parent } of listProcesses()) {
    const siblings = children.get(parent);
    if (siblings) siblings.push(pid);
    else children.set(parent, [pid]);
  }
  const found = new Set<number>();
  const open = [...roots];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    for (const pid of children.get(parent) ?? []) {
      if (roots.has(pid) || found.has(pid)) continue;
      found.add(pid);
      open.push(pid);
    }
  }
  return [...found];
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already.
  }
}
