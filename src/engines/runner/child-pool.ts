/**
 * Pool of idle script processes: blank ones, started in advance, and warm ones, by key. If there are too many, the
 * longest idle ones are ended; all are ended after the idle timeout.
 */
import { createSharedFolder } from "./files/shared-folder.ts";
import { createShortageGate, isShortage, type ShortageGate } from "./job/shortage.ts";
import type { Child } from "./process/child.ts";
import type { Tool } from "./programs/tools.ts";
import { createPythonPool } from "./python-pool.ts";
import type { FolderAccess } from "./sandbox/child-folders.ts";
import { createIdleCheck } from "./sandbox/watch/idle-check.ts";
import type { StorageUser } from "./sandbox/watch/storage-watch.ts";
import type { Runner, RunnerOptions } from "./types.ts";

/** Delay before a replacement is started: starting a process blocks the event loop, and the current job comes first. */
const REPLENISH_DELAY_MS = 25;
const MB = 1024 * 1024;

/** Whether a child's key matches all given criteria. */
export function matchesKey(key: string, match: Parameters<Runner["retire"]>[0]): boolean {
  const [workspace_id, version_id, , email, started_by] = key.split("\n");
  return (
    (match.workspace_id ?? workspace_id) === workspace_id &&
    (match.version_id ?? version_id) === version_id &&
    (match.email === undefined || match.email === email || match.email === started_by)
  );
}

export interface ChildPool {
  /** The reason why no process can be started at the moment, if there is one. */
  readonly shortage: ShortageGate;
  /** Starts a child for a single task. The caller must `remove` it. */
  start(reach?: FolderAccess): Child;
  remove(child: Child): Promise<void>;
  /**
   * Returns a blank child, one started in advance if possible. Makes room by ending an idle child.
   * @param shared the folder that it shares with others ·
   * @param tool program whose folders it reads
   */
  takeBlank(shared: string | undefined, tool: Tool | undefined): Child;
  /** Keeps Python processes started in advance from now on, until this Python is no longer used. */
  usePython(python: Tool): void;
  /** Returns a warm idle child with this key. */
  takeIdle(key: string): Child | undefined;
  /** Keeps a child for the next job of its key. */
  keep(child: Child): void;
  /** Kills a child and all processes it started. */
  discard(child: Child): void;
  /** Ends the idle children that match. */
  retire(match: Parameters<Runner["retire"]>[0]): void;
  /** Ends the idle children that use this shared folder. */
  retireSharing(shared: string): void;
  /** Ends the children that have been idle for too long. */
  endOld(now: number): void;
  /**
   * Ends idle processes that still use processor time, or more than half of a resource limit, since the next job
   * would be charged for it.
   * @param around number of the sandbox's wrapper processes around a child
   */
  endBusyIdle(now: number, around: number): void;
  /** Yields idle processes for the storage check, so that one that keeps storing data is discarded. */
  storing(): Iterable<StorageUser>;
  /** Whether a child of a version exists, idle or running. */
  hasVersion(workspace_id: string, version_id: string): boolean;
  /** Starts the blank children that are missing. */
  replenish(): void;
  stats(): { idle: number; blank: number; started_total: number };
  /** Stops starting children in advance. */
  close(): void;
  /** Ends all children. */
  destroy(): Promise<void>;
}

interface PoolOptions {
  options: RunnerOptions;
  /** Starts a process. @throws when the system refuses to */
  launch: (reach: FolderAccess) => Child;
  /** Turns a blank child into a Python interpreter. */
  turnIntoPython: (child: Child, program: string) => Promise<void>;
  /**
   * Whether scripts are confined to their own files; then the folders a child can access are fixed when it starts.
   */
  isWalled: () => boolean;
}

export function createChildPool({ options, launch, turnIntoPython, isWalled }: PoolOptions): ChildPool {
  const { directory, log } = options;
  const idle = new Map<string, Child[]>();
  const blank: Child[] = [];
  const children = new Set<Child>();
  const isFull = () => children.size >= options.max_children;
  const rest = createIdleCheck();
  const shortage = createShortageGate(startAhead, log);
  const pythons = createPythonPool({
    count: options.blank_children,
    idle_timeout_ms: options.idle_timeout_ms,
    start(python) {
      if (isFull()) return undefined;
      const child = start({ read: python.folders });
      turnIntoPython(child, python.program).catch(() => {});
      return child;
    },
    discard,
  });
  let started_total = 0;
  let closed = false;

  function start(reach: FolderAccess = {}): Child {
    const child = launch(reach);
    started_total++;
    children.add(child);
    return child;
  }

  function takeBlank(shared: string | undefined, tool: Tool | undefined): Child {
    const child = findBlank(shared, tool);
    if (tool?.is_python) pythons.use(tool);
    setTimeout(replaceTaken, REPLENISH_DELAY_MS);
    return child;
  }

  function findBlank(shared: string | undefined, tool: Tool | undefined): Child {
    const read = tool?.folders ?? [];
    const ahead = tool?.is_python && shared === undefined ? pythons.take(tool) : undefined;
    if (ahead) return ahead;
    if (isWalled() && (shared !== undefined || read.length > 0)) {
      if (isFull()) evictWaiting();
      const unfit = isFull() ? blank.shift() : undefined;
      if (unfit) discard(unfit);
      return start({ shared: shared && createSharedFolder(directory, shared), read });
    }
    for (let child = blank.shift(); child; child = blank.shift()) {
      if (child.isUsable) return child;
      discard(child);
    }
    if (isFull()) evictWaiting();
    return start();
  }

  /** Starts a blank child to replace a taken one. If the pool is full, it ends an idle child first. */
  function replaceTaken(): void {
    if (isFull() && blank.length < options.blank_children) evictWaiting();
    replenish();
  }

  function replenish(): void {
    if (closed) return;
    try {
      while (blank.length < options.blank_children && !isFull()) startAhead();
      pythons.replenish();
    } catch (cause) {
      if (isShortage(cause)) shortage.report(cause);
      else log("warn", "no blank script process could be started", { error: String(cause) });
    }
  }

  function startAhead(): void {
    if (isFull()) evictWaiting();
    const child = start();
    child.onExit = () => {
      const at = blank.indexOf(child);
      if (at >= 0) blank.splice(at, 1);
      discard(child);
    };
    blank.push(child);
  }

  /** Ends the longest idle warm process; if there is none, an idle Python. */
  function evictWaiting(): void {
    let oldest: Child | undefined;
    for (const list of idle.values()) {
      const first = list[0];
      if (first && (!oldest || first.idle_since < oldest.idle_since)) oldest = first;
    }
    const evicted = oldest ?? pythons.takeAny();
    if (evicted) discard(evicted);
  }

  function discard(child: Child): void {
    forget(child);
    child
      .destroy()
      .catch((cause) => log("warn", "a script process could not be ended", { error: String(cause) }));
  }

  function forget(child: Child): void {
    children.delete(child);
    const list = child.key === undefined ? undefined : idle.get(child.key);
    const at = list?.indexOf(child) ?? -1;
    if (list && at >= 0) list.splice(at, 1);
    if (list?.length === 0) idle.delete(child.key!);
  }

  function takeIdle(key: string): Child | undefined {
    const list = idle.get(key);
    for (let child = list?.pop(); child; child = list?.pop()) {
      if (child.isUsable) return child;
    }
    idle.delete(key);
    return undefined;
  }

  function keep(child: Child): void {
    child.idle_since = performance.now();
    child.onMessage = undefined;
    child.onExit = () => discard(child);
    child.onDisconnect = () => discard(child);
    const list = idle.get(child.key!);
    if (list) list.push(child);
    else idle.set(child.key!, [child]);
  }

  /** Returns a copy of the list of warm idle processes, since ending one changes the pool. */
  const allIdle = () => [...idle.values()].flat();

  function discardWhere(matches: (child: Child) => boolean): void {
    for (const child of allIdle()) if (matches(child)) discard(child);
  }

  /** Discards the child unless it has received a job in the meantime. */
  function discardIdle(child: Child): void {
    if (child.key !== undefined && idle.get(child.key)?.includes(child)) discard(child);
  }

  return {
    shortage,
    start,
    async remove(child) {
      children.delete(child);
      await child.destroy();
    },
    takeBlank,
    usePython(python) {
      pythons.use(python);
      setTimeout(replenish, REPLENISH_DELAY_MS);
    },
    takeIdle,
    keep,
    discard,
    retire: (match) => discardWhere(({ key }) => matchesKey(key!, match)),
    retireSharing: (name) => discardWhere(({ shared }) => shared === name),
    endOld(now) {
      discardWhere(({ idle_since }) => now - idle_since > options.idle_timeout_ms);
      pythons.endOld(now);
    },
    endBusyIdle(now, around) {
      const limit = (options.limits.memory_mb * MB) / 2;
      const restless = new Set(rest.findBusy(allIdle(), now, limit, around));
      discardWhere(({ pid }) => restless.has(pid));
    },
    *storing() {
      const { limits } = options;
      for (const list of idle.values()) {
        for (const child of list) {
          yield { pid: child.pid, folders: [child.folder], limits, fail: () => discardIdle(child) };
        }
      }
    },
    hasVersion: (workspace_id, version_id) =>
      [...children].some((child) => child.key?.startsWith(`${workspace_id}\n${version_id}\n`)),
    replenish,
    stats() {
      let warm = 0;
      for (const list of idle.values()) warm += list.length;
      return { idle: warm, blank: blank.length + pythons.count(), started_total };
    },
    close() {
      closed = true;
      shortage.stop();
    },
    async destroy() {
      await Promise.all([...children].map((child) => child.destroy()));
    },
  };
}
