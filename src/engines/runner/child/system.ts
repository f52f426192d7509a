/** What a child asks of the system, and how it stands in it from its first moment on. */
import { dlopen, ptr } from "bun:ffi";

const PR_SET_CHILD_SUBREAPER = 36;
const FIONREAD = 0x541b;
const P_ALL = 0;
const WNOHANG_WEXITED_WNOWAIT = 1 | 4 | 0x01000000;
const SCHED_BATCH = 3;

/** Undefined where this is not Linux. */
export const libc = openLibc();
const buffer = new Uint8Array(256);

/** Linux only: elsewhere process groups have to do. */
function openLibc() {
  if (process.platform !== "linux") return undefined;
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(name, {
        prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
        waitid: { args: ["i32", "i32", "ptr", "i32"], returns: "i32" },
        ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" },
        fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
        signal: { args: ["i32", "u64"], returns: "u64" },
        execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" },
        sched_setscheduler: { args: ["i32", "i32", "ptr"], returns: "i32" },
        memfd_create: { args: ["ptr", "u32"], returns: "i32" },
      }).symbols;
    } catch {}
  }
  return undefined;
}

// What the user's code starts stays below this process, also what tries to get away: it is found and ended from here.
libc?.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);

// A job that is handed over must not take the processor from the server that is handing it over (sched(7)): it waits
// for its turn, which on another core, or as soon as the server waits, is at once.
libc?.sched_setscheduler(0, SCHED_BATCH, ptr(new Int32Array(1)));

/** 1 for stdout, 2 for stderr when the server has not read everything yet, else 0. */
export function pending(fd: 1 | 2): number {
  libc!.ioctl(fd, FIONREAD, ptr(buffer));
  return buffer[0] || buffer[1] || buffer[2] || buffer[3] ? fd : 0;
}

/** A subreaper without any child has left nothing behind: one system call proves it. */
export function hasLeftovers(): boolean {
  return libc !== undefined && libc.waitid(P_ALL, 0, ptr(buffer), WNOHANG_WEXITED_WNOWAIT) === 0;
}
