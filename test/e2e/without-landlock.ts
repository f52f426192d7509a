/**
 * Becomes the command that is given, on a kernel that says it has no Landlock: a filter of system calls answers for it,
 * as it does in containers that are older than Landlock.
 */
import { dlopen, ptr } from "bun:ffi";

const PR_SET_NO_NEW_PRIVS = 38;
const PR_SET_SECCOMP = 22;
const SECCOMP_MODE_FILTER = 2;
const LANDLOCK_CREATE_RULESET = 444;
const ENOSYS = 38;

const library = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
const musl = `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`;
const libc = dlopen(library.header.glibcVersionRuntime ? "libc.so.6" : musl, {
  prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
  execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" },
}).symbols;

/** Load the number; is it that call; refuse; allow (struct sock_filter: code, two jumps, value). */
const filter = new Uint32Array([
  0x20,
  0,
  0x15 | (1 << 24),
  LANDLOCK_CREATE_RULESET,
  0x06,
  0x00050000 | ENOSYS,
  0x06,
  0x7fff0000,
]);
const program = new BigUint64Array([4n, BigInt(ptr(filter))]);
libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
if (libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, BigInt(ptr(program)), 0, 0) !== 0)
  throw new Error("no filter");

const held: unknown[] = [program];
const text = (value: string) => {
  const bytes = Buffer.from(`${value}\0`);
  held.push(bytes);
  return ptr(bytes);
};
const list = (values: string[]) => {
  const pointers = new BigUint64Array([...values.map((value) => BigInt(text(value))), 0n]);
  held.push(pointers);
  return ptr(pointers);
};
const command = process.argv.slice(2);
libc.execve(
  text(command[0]!),
  list(command),
  list(Object.entries(process.env).map(([name, value]) => `${name}=${value}`)),
);
throw new Error(`${command[0]} could not be started`);
