/** System calls of a child, and its process setup. */
import { dlopen, ptr } from "bun:ffi";
import type { ChildExit } from "../types.ts";

const PR_SET_CHILD_SUBREAPER = 36;
const PR_SET_DUMPABLE = 4;
const FIONREAD = 0x541b;
const P_ALL = 0;
const P_PID = 1;
const WNOHANG_WEXITED = 1 | 4;
const WNOHANG_WEXITED_WNOWAIT = WNOHANG_WEXITED | 0x01000000;
/** Offset of `si_pid` in siginfo_t, in 32-bit words. */
const SI_PID = 4;
const SCHED_BATCH = 3;
const O_CLOEXEC = 0o2000000;

/** System calls of the C library; undefined except on Linux. */
export const libc = openLibrary(
  (name) =>
    dlopen(name, {
      prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
      waitid: { args: ["i32", "i32", "ptr", "i32"], returns: "i32" },
      ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" },
      fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
      signal: { args: ["i32", "u64"], returns: "u64" },
      execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" },
      sched_setscheduler: { args: ["i32", "i32", "ptr"], returns: "i32" },
      dup2: { args: ["i32", "i32"], returns: "i32" },
      pipe2: { args: ["ptr", "i32"], returns: "i32" },
      memfd_create: { args: ["ptr", "u32"], returns: "i32" },
    }).symbols,
);
/**
 * System calls on files that a process makes before it needs `node:fs`, which takes longer to load; undefined where the
 * C library does not have them all. They return a negative number on error.
 */
export const files = openLibrary(
  (name) =>
    dlopen(name, {
      open: { args: ["ptr", "i32"], returns: "i32" },
      write: { args: ["i32", "ptr", "u64"], returns: "i32" },
      lseek: { args: ["i32", "i64", "i32"], returns: "i32" },
      statx: { args: ["i32", "ptr", "i32", "u32", "ptr"], returns: "i32" },
      getdents64: { args: ["i32", "ptr", "u64"], returns: "i32" },
    }).symbols,
);
const buffer = new Uint8Array(256);
const words = new Int32Array(buffer.buffer);

/** Opens functions of the C library; undefined if it lacks one, and on other systems than Linux. */
function openLibrary<T>(open: (name: string) => T): T | undefined {
  if (process.platform !== "linux") return undefined;
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return open(name);
    } catch {}
  }
  return undefined;
}

// As a subreaper, this process keeps everything that user code starts below it, even daemons, so that it can be found
// and killed.
libc?.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);

// A dispatched job must not preempt the server (sched(7)). As a batch process it waits for its turn, which is immediate
// on an idle core.
libc?.sched_setscheduler(0, SCHED_BATCH, ptr(new Int32Array(1)));

/** Returns 1 (stdout) or 2 (stderr) if the server has not read the whole pipe, else 0. */
export function findUnreadPipe(fd: 1 | 2): number {
  libc!.ioctl(fd, FIONREAD, ptr(buffer));
  return buffer[0] || buffer[1] || buffer[2] || buffer[3] ? fd : 0;
}

/** Whether child processes are left: for a subreaper, one system call tells. */
export function hasLeftovers(): boolean {
  return libc !== undefined && libc.waitid(P_ALL, 0, ptr(buffer), WNOHANG_WEXITED_WNOWAIT) === 0;
}

/**
 * Waits for children that have ended, so that they are not counted as processes.
 * @param except pid of a child whose exit other code waits for
 */
export function reapOrphans(except: number | undefined): void {
  for (;;) {
    words[SI_PID] = 0;
    if (libc?.waitid(P_ALL, 0, ptr(buffer), WNOHANG_WEXITED_WNOWAIT) !== 0) return;
    const pid = words[SI_PID]!;
    if (pid === 0 || pid === except) return;
    libc.waitid(P_PID, pid, ptr(buffer), WNOHANG_WEXITED);
  }
}

/**
 * Protects this process's memory, environment and descriptors from the processes that it starts
 * (PR_SET_DUMPABLE(2const)).
 */
export function hideMemory(): void {
  libc?.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/**
 * Creates a pipe.
 * @returns the read end and the write end of a new pipe, which child processes do not inherit by default
 */
export function openPipe(): [number, number] {
  if (libc!.pipe2(ptr(words), O_CLOEXEC) !== 0) throw new Error("no pipe could be opened");
  return [words[0]!, words[1]!];
}

/** A child process. */
export interface Started {
  pid: number;
  exited: Promise<ChildExit>;
}

/** Starts a child process. @throws if the system refuses to */
export function startProgram(
  path: string,
  argv: string[],
  env: Record<string, string>,
  stdio: ["ignore" | number, "inherit", "inherit", ...number[]],
): Started {
  let announce!: (exit: ChildExit) => void;
  const exited = new Promise<ChildExit>((resolve) => {
    announce = resolve;
  });
  const { pid } = Bun.spawn([path, ...argv.slice(1)], {
    argv0: argv[0]!,
    env,
    stdio,
    // It leads its own session, so that a signal to its process group does not reach this process.
    detached: true,
    onExit: (_, code, signal) => announce({ code, signal: signal === null ? null : String(signal) }),
  });
  return { pid, exited };
}

/** Functions of `node:fs`, as they were before a script could replace them. */
type NodeFs = Pick<typeof import("node:fs"), (typeof FS_FUNCTIONS)[number]>;

const FS_FUNCTIONS = [
  "closeSync",
  "constants",
  "fstatSync",
  "openSync",
  "readdirSync",
  "readFileSync",
  "readlinkSync",
  "rmSync",
  "symlinkSync",
  "writeSync",
] as const;
let loadedFs: NodeFs | undefined;

/**
 * Returns functions of `node:fs`. Loading it takes a quarter of the start of a process, so it is loaded at first use, but
 * before a script that imports something.
 */
export function nodeFs(): NodeFs {
  if (loadedFs) return loadedFs;
  const module = process.getBuiltinModule("node:fs");
  loadedFs = Object.fromEntries(FS_FUNCTIONS.map((name) => [name, module[name]])) as unknown as NodeFs;
  return loadedFs;
}
