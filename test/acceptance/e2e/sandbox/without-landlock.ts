/**
 * Runs a command as on a kernel without Landlock: a system call filter answers for it, as in containers older
 * than Landlock.
 */
import { dlopen, ptr } from "bun:ffi";
import { LIBC, refuseCall } from "../../../engines/runner/refuse-call.ts";

const LANDLOCK_CREATE_RULESET = 444;
const ENOSYS = 38;

const libc = dlopen(LIBC, { execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" } }).symbols;
refuseCall(LANDLOCK_CREATE_RULESET, ENOSYS);

const held: unknown[] = [];
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
