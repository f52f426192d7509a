/**
 * What keeps processes from outliving their reason: the watchdog, which ends the children of a server that is gone, and
 * the sweep of strays, processes whose child ended without them. The server collects such orphans (it is a subreaper).
 */

import { dlopen } from "bun:ffi";
import { readFileSync } from "node:fs";
import { sleep } from "../../../lib/async/sleep.ts";
import type { RunnerOptions } from "../types.ts";
import { killTrees, listProcesses } from "./kill-tree.ts";

const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
/** Killed processes are gone within a moment, unless the kernel is busy with them. */
const REAP_MS = 2_000;
/** Looking at hundreds again and again would take the processor that they need to end. */
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;
/** What waitpid(2) says of a process that is another's child. */
const NOT_OURS = -1;

/** Watchdogs and children of every guard in this process: none is a stray to another. */
const guarded = new Set<number>();

export interface Guard {
  /** A child was started or has ended. */
  add(pid: number): void;
  remove(pid: number): void;
  /** Kills a child with everything below it, and waits until all are gone. */
  kill(pid: number): Promise<void>;
  /** Kills what ended children left behind. */
  sweep(): Promise<void>;
  /** What else this process has started by now is left alone, with all of its session: a browser, a tunnel. */
  spare(): void;
  stop(): Promise<void>;
}

export function startGuard(watchdogProgram: string, directory: string, log: RunnerOptions["log"]): Guard {
  const libc = openLibc();
  libc?.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const session = ownSession();
  const children = new Set<number>();
  const spared = new Set<number>();
  let stopping = false;
  let watchdog = startWatchdog();

  function startWatchdog() {
    const process_ = Bun.spawn([process.execPath, "--no-install", watchdogProgram], {
      cwd: directory,
      env: { BUN_BE_BUN: "1", PATH: "/usr/bin:/bin" },
      stdin: "pipe",
      stdout: "ignore",
      stderr: "ignore",
      detached: true,
      onExit: (ended) => {
        guarded.delete(ended.pid);
        if (stopping) return;
        log("warn", "the watchdog of the script processes ended and is started again");
        watchdog = startWatchdog();
      },
    });
    guarded.add(process_.pid);
    for (const pid of children) process_.stdin.write(`+${pid}\n`);
    process_.stdin.flush();
    process_.unref();
    return process_;
  }

  function tell(line: string): void {
    watchdog.stdin.write(line);
    watchdog.stdin.flush();
  }

  /** Waits for the end of processes that became ours; those of others are only looked for. */
  async function reap(pids: number[]): Promise<void> {
    const until = Date.now() + REAP_MS;
    let left = pids;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      left = left.filter((pid) => {
        const waited = libc?.waitpid(pid, null, WNOHANG) ?? NOT_OURS;
        return waited === NOT_OURS ? isAlive(pid) : waited === 0;
      });
      if (left.length === 0 || Date.now() > until) return;
      await sleep(pause);
    }
  }

  /** Processes below this one that are neither children nor what a shell started along with it. */
  function strangers() {
    return listProcesses().filter(
      (each) => each.parent === process.pid && each.session !== session && !guarded.has(each.pid),
    );
  }

  return {
    spare() {
      for (const each of strangers()) spared.add(each.session);
    },
    add(pid) {
      children.add(pid);
      guarded.add(pid);
      tell(`+${pid}\n`);
    },
    remove(pid) {
      children.delete(pid);
      guarded.delete(pid);
      tell(`-${pid}\n`);
    },
    async kill(pid) {
      await reap(killTrees([pid]).filter((killed) => killed !== pid));
    },
    async sweep() {
      if (!libc) return;
      const strays = strangers().filter((each) => !spared.has(each.session));
      if (strays.length > 0) await reap(killTrees(strays.map((each) => each.pid)));
    },
    async stop() {
      stopping = true;
      watchdog.stdin.end();
      await watchdog.exited;
    },
  };
}

/** Linux only: elsewhere orphans go to init, and process groups have to do. */
function openLibc() {
  if (process.platform !== "linux") return undefined;
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(name, {
        prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
        waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
      }).symbols;
    } catch {
      // The other C library's name.
    }
  }
  return undefined;
}

function ownSession(): number {
  return listProcesses().find((each) => each.pid === process.pid)?.session ?? -1;
}

function isAlive(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text[text.lastIndexOf(")") + 2] !== "Z";
  } catch {
    return false;
  }
}
