/**
 * Prevents processes from outliving their purpose: a watchdog kills the children of a server that is gone, and a sweep
 * kills strays, whose child ended without them. The server adopts such orphans, because it is a subreaper.
 */

import { dlopen } from "bun:ffi";
import { readFileSync } from "node:fs";
import { type Backoff, computeBackoffMs } from "../../../lib/async/retry.ts";
import { sleep } from "../../../lib/async/sleep.ts";
import type { RunnerOptions } from "../types.ts";
import { killTrees, listProcesses, readProcess } from "./kill-tree.ts";

const PR_SET_DUMPABLE = 4;
const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
/** Each round kills what was started during the one before; more rounds would mean deliberate evasion. */
const MAX_SWEEP_ROUNDS = 20;
/** Killed processes disappear at once, unless the kernel is busy with them. */
const REAP_TIMEOUT_MS = 2_000;
/** Polling hundreds of processes too often would take the processor they need to exit. */
const POLL_BACKOFF: Backoff = { first_ms: 2, max_ms: 50 };
/** Result of waitpid(2) for another process's child. */
const NOT_OUR_CHILD = -1;

/** Watchdogs and children of all guards in this process; they are strays to none. */
const guardedPids = new Set<number>();

export interface Guard {
  /** Starts the watchdog unless it runs. Call before a child is started: a server that has none starts sooner without. */
  watch(): void;
  /** Records that a child was started or has ended. */
  add(pid: number): void;
  remove(pid: number): void;
  /** Kills a child with all its descendants, and resolves once all are gone. */
  kill(pid: number): Promise<void>;
  /** Kills processes that ended children left behind. */
  sweep(): Promise<void>;
  /** Exempts all other processes that this process has started so far, by session: a browser, a tunnel. */
  exemptOtherProcesses(): void;
  stop(): Promise<void>;
}

export function startGuard(watchdogProgram: string, directory: string, log: RunnerOptions["log"]): Guard {
  const libc = openLibc();
  libc?.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  // Without Landlock, scripts of the same user could otherwise open this process's memory, files and environment
  // through /proc/<pid>, which a system call filter cannot distinguish from other files.
  libc?.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  const session = ownSession();
  const children = new Set<number>();
  const spared = new Set<number>();
  let stopping = false;
  let watchdog: ReturnType<typeof startWatchdog> | undefined;

  function startWatchdog() {
    const process_ = Bun.spawn([process.execPath, "--no-install", watchdogProgram], {
      cwd: directory,
      env: { BUN_BE_BUN: "1", PATH: "/usr/bin:/bin" },
      stdin: "pipe",
      stdout: "ignore",
      stderr: "ignore",
      detached: true,
      onExit: (ended) => {
        guardedPids.delete(ended.pid);
        if (stopping) return;
        log("warn", "the watchdog of the script processes ended and is started again");
        watchdog = startWatchdog();
      },
    });
    guardedPids.add(process_.pid);
    for (const pid of children) process_.stdin.write(`+${pid}\n`);
    process_.stdin.flush();
    process_.unref();
    return process_;
  }

  function tell(line: string): void {
    watchdog?.stdin.write(line);
    watchdog?.stdin.flush();
  }

  /** Waits for killed processes to end: own children by waitpid, others by polling. */
  async function reap(pids: number[]): Promise<void> {
    const until = Date.now() + REAP_TIMEOUT_MS;
    let left = pids;
    for (let polls = 1; ; polls++) {
      left = left.filter((pid) => {
        const waited = libc?.waitpid(pid, null, WNOHANG) ?? NOT_OUR_CHILD;
        return waited === NOT_OUR_CHILD ? isAlive(pid) : waited === 0;
      });
      if (left.length === 0 || Date.now() > until) return;
      await sleep(computeBackoffMs(POLL_BACKOFF, polls));
    }
  }

  /** Lists descendants of this process that are neither guarded nor in its own session. */
  function strangers() {
    return listProcesses().filter(
      (each) => each.parent === process.pid && each.session !== session && !guardedPids.has(each.pid),
    );
  }

  async function sweep(): Promise<void> {
    if (!libc) return;
    for (let round = 0; round < MAX_SWEEP_ROUNDS; round++) {
      const strays = strangers().filter((each) => !spared.has(each.session));
      if (strays.length === 0) return;
      await reap(killTrees(strays.map((each) => each.pid)));
    }
  }

  return {
    watch() {
      watchdog ??= startWatchdog();
    },
    exemptOtherProcesses() {
      for (const each of strangers()) spared.add(each.session);
    },
    add(pid) {
      children.add(pid);
      guardedPids.add(pid);
      tell(`+${pid}\n`);
    },
    remove(pid) {
      children.delete(pid);
      guardedPids.delete(pid);
      tell(`-${pid}\n`);
    },
    async kill(pid) {
      const descendants = killTrees([pid]).filter((killed) => killed !== pid);
      await reap(descendants);
      // Processes that a killed one started at the last moment are now children of this process.
      if (descendants.length > 0) await sweep();
    },
    sweep,
    async stop() {
      stopping = true;
      watchdog?.stdin.end();
      await watchdog?.exited;
    },
  };
}

/** Opens libc on Linux; elsewhere init adopts orphans, and process groups must suffice. */
function openLibc() {
  if (process.platform !== "linux") return undefined;
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(name, {
        prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
        waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
      }).symbols;
    } catch {
      // Try the other C library's name.
    }
  }
  return undefined;
}

function ownSession(): number {
  return readProcess("self")?.session ?? -1;
}

function isAlive(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text[text.lastIndexOf(")") + 2] !== "Z";
  } catch {
    return false;
  }
}
