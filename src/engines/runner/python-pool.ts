/**
 * Python processes started in advance while Python is in use, so that a script's first run does not wait for an
 * interpreter. Each is a blank child that may read its interpreter's folders.
 */
import type { Child } from "./process/child.ts";
import type { Tool } from "./programs/tools.ts";

interface PythonPoolOptions {
  /** Number of processes kept per interpreter. */
  count: number;
  /** They end after their interpreter has not been used for this long. */
  idle_timeout_ms: number;
  /**
   * Starts a child and turns it into this interpreter; undefined if the pool is full.
   * @throws if the system refuses
   */
  start: (python: Tool) => Child | undefined;
  discard: (child: Child) => void;
}

export interface PythonPool {
  /** Records that scripts use this interpreter, and starts missing processes soon. */
  use(python: Tool): void;
  /** Returns a waiting process, if there is one. */
  take(python: Tool): Child | undefined;
  /** Returns a waiting process of the least recently used interpreter, to be ended. */
  takeAny(): Child | undefined;
  /** Number of waiting processes. */
  count(): number;
  /** Starts missing processes. @throws if the system refuses */
  replenish(): void;
  /** Ends processes whose interpreter has not been used for long. */
  endOld(now: number): void;
}

export function createPythonPool({ count, idle_timeout_ms, start, discard }: PythonPoolOptions): PythonPool {
  const waiting = new Map<string, { python: Tool; children: Child[]; used_at: number }>();

  function startOne(python: Tool, children: Child[]): boolean {
    const child = start(python);
    if (!child) return false;
    const drop = () => {
      const at = children.indexOf(child);
      if (at < 0) return;
      children.splice(at, 1);
      discard(child);
    };
    children.push(child);
    child.interpreter!.then(() => {
      if (children.includes(child)) Object.assign(child, { onExit: drop, onDisconnect: drop });
    }, drop);
    return true;
  }

  /** Removes the first process that has not ended from the list. */
  function takeFrom(children: Child[]): Child | undefined {
    for (let child = children.shift(); child; child = children.shift()) {
      if (child.isUsable) return child;
      discard(child);
    }
    return undefined;
  }

  return {
    use(python) {
      const entry = waiting.get(python.program);
      if (entry) entry.used_at = performance.now();
      else waiting.set(python.program, { python, children: [], used_at: performance.now() });
    },
    take: (python) => takeFrom(waiting.get(python.program)?.children ?? []),
    takeAny() {
      const longest = [...waiting.values()].sort((a, b) => a.used_at - b.used_at);
      for (const { children } of longest) {
        const child = takeFrom(children);
        if (child) return child;
      }
      return undefined;
    },
    count: () => [...waiting.values()].reduce((count, { children }) => count + children.length, 0),
    replenish() {
      for (const { python, children } of waiting.values()) {
        while (children.length < count && startOne(python, children)) {}
      }
    },
    endOld(now) {
      for (const [program, { children, used_at }] of waiting) {
        if (now - used_at <= idle_timeout_ms) continue;
        waiting.delete(program);
        for (const child of children.splice(0)) discard(child);
      }
    },
  };
}
