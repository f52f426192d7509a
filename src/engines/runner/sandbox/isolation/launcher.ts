/**
 * Carries out a launch plan where no launch program can be executed, such as in a data directory on a file system that is
 * mounted `noexec`. Landlock binds only the calling thread, but the runtime's other threads end with `execve`.
 */
import { dlopen, type Pointer, ptr, read } from "bun:ffi";
import { readFileSync } from "node:fs";
import { CHANNEL_ENVIRONMENT } from "../../protocol.ts";
import type { LaunchCall, LaunchPlan, Operand } from "./launch-plan.ts";

/** Exit status of a command that could not be executed, as of shells. */
const NOT_EXECUTED = 126;

const libc = openLibc();
const { common, own, execve, command } = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as LaunchPlan & {
  common: LaunchCall[];
};
/** Keeps memory that the kernel reads from being garbage collected. */
const keptAlive: unknown[] = [];

function openLibc() {
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(name, {
        syscall: { args: ["i64", "u64", "u64", "u64", "u64", "u64"], returns: "i64" },
        __errno_location: { args: [], returns: "ptr" },
      }).symbols;
    } catch {
      // Try the other C library's name.
    }
  }
  return fail("the C library was not found");
}

function fail(why: string): never {
  console.error(why);
  process.exit(NOT_EXECUTED);
}

function address(bytes: NodeJS.TypedArray): Pointer {
  keptAlive.push(bytes);
  return ptr(bytes);
}

/** Returns the word to pass to the kernel. */
function resolve(operand: Operand): number {
  if (typeof operand === "number") return operand;
  if (typeof operand === "string") return address(Buffer.from(`${operand}\0`));
  if ("bytes" in operand) {
    const bytes = Buffer.from(operand.bytes, "base64");
    return address(bytes.length > 0 ? bytes : new Uint8Array(1));
  }
  return address(new BigUint64Array(operand.words.map((word) => BigInt(resolve(word)))));
}

/** @returns whether the call succeeded */
function callSystem(number: number, operands: Operand[]): boolean {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = operands.map(resolve);
  return Number(libc.syscall(number, a, b, c, d, e)) >= 0;
}

const errno = () => read.i32(libc.__errno_location()!, 0);

// The runtime has removed the channel's variables.
const environment = Object.entries({ ...process.env, ...CHANNEL_ENVIRONMENT }).map(
  ([name, value]) => `${name}=${value}`,
);
const calls = [...common, ...own];
for (let at = 0; at < calls.length; at++) {
  const { number, name, operands, skipped } = calls[at]!;
  if (callSystem(number, operands)) continue;
  if (skipped === undefined) fail(`the sandbox could not be set up: ${name} was refused (errno ${errno()})`);
  at += skipped;
}
callSystem(execve, [command[0]!, { words: [...command, 0] }, { words: [...environment, 0] }]);
fail(`${command[0]} could not be started (errno ${errno()})`);
