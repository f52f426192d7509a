/** Sandbox capabilities of this machine. */
import { dlopen, ptr } from "bun:ffi";
import type { SandboxSettings } from "../types.ts";
import { type Architecture, SYSCALLS } from "./isolation/syscalls.ts";

export interface SandboxSupport {
  /** Landlock ABI version; 0 if the kernel or the surrounding container does not offer it. */
  landlock: number;
  /** Whether the kernel supports seccomp filters. */
  seccomp: boolean;
  /** Path of bubblewrap, for `SVC_SANDBOX=bwrap`. */
  bwrap: string | undefined;
  /** Short reason why Landlock is missing. */
  missing: string | undefined;
}

/** With this flag the call only returns the ABI version. */
const LANDLOCK_CREATE_RULESET_VERSION = 1n;
const SECCOMP_GET_ACTION_AVAIL = 2n;
const SECCOMP_RET_ERRNO = 0x00050000;

/** Queries the kernel without changing anything. */
export function detectSandboxSupport(): SandboxSupport {
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

/** Whether paths can be restricted by more than file permissions. */
export function canConfineFiles(mode: SandboxSettings["mode"], { landlock }: SandboxSupport): boolean {
  return landlock > 0 || mode === "bwrap";
}

function openLibc() {
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(name, { syscall: { args: ["i64", "u64", "u64", "u64"], returns: "i64" } }).symbols;
    } catch {
      // Try the other C library's name.
    }
  }
  return undefined;
}
