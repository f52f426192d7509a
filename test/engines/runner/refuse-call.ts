/**
 * Makes the kernel reject a system call of this thread and its programs from now on, as older or exhausted
 * kernels do.
 */
import { dlopen, ptr } from "bun:ffi";

const PR_SET_NO_NEW_PRIVS = 38;
const PR_SET_SECCOMP = 22;
const SECCOMP_MODE_FILTER = 2;

const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
const musl = `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`;

/** The C library of this machine. */
export const LIBC = header.glibcVersionRuntime ? "libc.so.6" : musl;

/** @throws Error if the kernel accepts no filter */
export function refuseCall(number: number, errno: number): void {
  const { prctl } = dlopen(LIBC, {
    prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
  }).symbols;
  // Load the number; is it that call; refuse; allow (struct sock_filter: code, two jumps, value).
  const filter = new Uint32Array([
    0x20,
    0,
    0x15 | (1 << 24),
    number,
    0x06,
    0x00050000 | errno,
    0x06,
    0x7fff0000,
  ]);
  const program = new BigUint64Array([4n, BigInt(ptr(filter))]);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, BigInt(ptr(program)), 0, 0) !== 0)
    throw new Error("no filter");
}
