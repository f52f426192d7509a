/** What this machine has to hold scripts in with. */
import { dlopen, ptr } from "bun:ffi";
import type { SandboxChoice } from "../types.ts";
import { type Architecture, SYSCALLS } from "./walls/syscalls.ts";

export interface SandboxSupport {
  /** Version of Landlock's interface; 0 where the kernel, or a container around us, does not offer it. */
  landlock: number;
  /** Whether the kernel takes filters of system calls. */
  seccomp: boolean;
  /** Where bubblewrap is, for `SVC_SANDBOX=bwrap`. */
  bwrap: string | undefined;
  /** Why there is no Landlock, in a few words. */
  missing: string | undefined;
}

/** With this flag the call makes nothing: it tells the version of the interface. */
const LANDLOCK_CREATE_RULESET_VERSION = 1n;
const SECCOMP_GET_ACTION_AVAIL = 2n;
const SECCOMP_RET_ERRNO = 0x00050000;

/** Asks the kernel; nothing is changed by it. */
export function sandboxSupport(): SandboxSupport {
  const numbers = SYSCALLS[process.arch as Architecture];
  if (process.platform !== "linux" || !numbers) {
    return { landlock: 0, seccomp: false, bwrap: undefined, missing: `${process.platform} has no Landlock` };
  }
  const bwrap = Bun.which("bwrap") ?? undefined;
  const libc = openLibc();
  if (!libc) {
    return { landlock: 0, seccomp: false, bwrap, missing: "the C library could not be asked" };
  }
  const abi = libc.syscall(numbers.landlock_create_ruleset, 0n, 0n, LANDLOCK_CREATE_RULESET_VERSION);
  const action = new Uint32Array([SECCOMP_RET_ERRNO]);
  const filters = libc.syscall(numbers.seccomp, SECCOMP_GET_ACTION_AVAIL, 0n, BigInt(ptr(action)));
  const landlock = Math.max(0, Number(abi));
  return {
    landlock,
    seccomp: Number(filters) === 0,
    bwrap,
    missing: landlock > 0 ? undefined : "Landlock is not offered by this kernel or container",
  };
}

/** Whether paths are closed to scripts by something else than the rights of files. */
export function hasWalls(mode: SandboxChoice["mode"], { landlock }: SandboxSupport): boolean {
  return landlock > 0 || mode === "bwrap";
}

function openLibc() {
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(name, { syscall: { args: ["i64", "u64", "u64", "u64"], returns: "i64" } }).symbols;
    } catch {
      // The other C library's name.
    }
  }
  return undefined;
}
