/**
 * Puts the walls up around itself, then becomes the program of a child: everything set here is kept by it and by
 * whatever it starts, and none can take it down again. Landlock binds the thread that asks for it, and only that one:
 * the runtime's other threads end with `execve`. Self-contained, as the child's program is.
 */
import { dlopen, type Pointer, ptr, read } from "bun:ffi";
import { writeFileSync } from "node:fs";
import { pathRule, portRule, RULE_NET_PORT, RULE_PATH_BENEATH, type Rule, rulesetOf } from "./landlock.ts";
import { filterOf } from "./seccomp.ts";
import { type Architecture, SYSCALLS, type Syscall } from "./syscalls.ts";

/** What the server asks for: the launcher's one argument, as JSON. */
export interface LaunchSpec {
  /** Landlock's version in this kernel; 0 for none. */
  landlock: number;
  /** Whether the kernel takes filters of system calls. */
  seccomp: boolean;
  rules: Rule[];
  /** The only TCP ports that may be connected to; left out, any. */
  ports?: number[] | undefined;
  /** Resource (RLIMIT_…) and the most of it. */
  limits: [resource: number, most: number][];
  /** Processes that may not be signalled. */
  guarded: number[];
  /** The program and its arguments. */
  command: string[];
}

const PR_SET_NO_NEW_PRIVS = 38;
const PR_CAPBSET_DROP = 24;
const CAP_DAC_OVERRIDE = 1;
const LAST_CAPABILITY = 63;
const SECCOMP_SET_MODE_FILTER = 1;
/** Without it, older kernels slow the process down by much (Spectre v4), for nothing that it could still learn. */
const SECCOMP_FILTER_FLAG_SPEC_ALLOW = 4;
const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;
const F_SETFD = 2;
const CLOSE_RANGE_CLOEXEC = 4;
const UNLIMITED = 0xffffffffffffffffn;
const OUT_OF_MEMORY_FIRST = "500";

const libc = openLibc();
const numbers = SYSCALLS[process.arch as Architecture];
const spec = JSON.parse(process.argv[2]!) as LaunchSpec;
/** What the kernel reads must not be collected before it has. */
const held: unknown[] = [];

function openLibc() {
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(name, {
        syscall: { args: ["i64", "u64", "u64", "u64", "u64", "u64"], returns: "i64" },
        open: { args: ["ptr", "i32"], returns: "i32" },
        close: { args: ["i32"], returns: "i32" },
        fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
        execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" },
        __errno_location: { args: [], returns: "ptr" },
      }).symbols;
    } catch {
      // The other C library's name.
    }
  }
  return refuse("the C library was not found");
}

function refuse(why: string): never {
  process.stderr.write(`the sandbox could not be set up: ${why}\n`);
  process.exit(126);
}

type Word = number | bigint | Uint8Array | BigUint64Array;

function call(name: Syscall, ...words: Word[]): number {
  const given = [...words, 0, 0, 0, 0, 0].slice(0, 5).map((word) => {
    if (typeof word === "bigint" || typeof word === "number") return BigInt(word);
    held.push(word);
    return BigInt(ptr(word));
  });
  return Number(libc.syscall(numbers[name], given[0]!, given[1]!, given[2]!, given[3]!, given[4]!));
}

function must(name: Syscall, ...words: Word[]): number {
  const answer = call(name, ...words);
  return answer < 0 ? refuse(`${name}: errno ${read.i32(libc.__errno_location()!, 0)}`) : answer;
}

/** Lowers a limit; one that is lower already stays. */
function limit(resource: number, most: number): void {
  const now = new BigUint64Array(2);
  must("prlimit64", 0, resource, 0, now);
  const lowest = [BigInt(most), now[1]!].reduce((low, each) => (each < low ? each : low), UNLIMITED);
  must("prlimit64", 0, resource, new BigUint64Array([lowest, lowest]), 0);
}

/** The superuser's powers go, but for files of other users: those that matter are behind the wall around files. */
function dropCapabilities(): void {
  for (let capability = 0; capability <= LAST_CAPABILITY; capability++) {
    if (capability !== CAP_DAC_OVERRIDE) call("prctl", PR_CAPBSET_DROP, capability);
  }
}

/** @returns the descriptor, undefined when there is nothing at the path any more */
function openPath(path: string, flags: number): number | undefined {
  const descriptor = libc.open(text(path), O_PATH | flags);
  return descriptor < 0 ? undefined : descriptor;
}

function restrictFiles(): void {
  const { landlock: abi, ports } = spec;
  const ruleset = rulesetOf(abi, ports !== undefined);
  const descriptor = must("landlock_create_ruleset", ruleset, ruleset.byteLength, 0);
  for (const [path, rights] of spec.rules) {
    const opened = openPath(path, O_CLOEXEC);
    if (opened === undefined) continue;
    must("landlock_add_rule", descriptor, RULE_PATH_BENEATH, pathRule(abi, rights, opened), 0);
    libc.close(opened);
  }
  for (const port of ports ?? []) must("landlock_add_rule", descriptor, RULE_NET_PORT, portRule(port), 0);
  must("landlock_restrict_self", descriptor, 0);
  libc.close(descriptor);
}

function filterCalls(): void {
  const filter = filterOf({
    architecture: process.arch as Architecture,
    landlock: spec.landlock,
    guarded: spec.guarded,
  });
  held.push(filter);
  // struct sock_fprog: how many instructions, and where they are.
  const program = new BigUint64Array([BigInt(filter.length / 8), BigInt(ptr(filter))]);
  must("seccomp", SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, program);
}

function text(value: string): Pointer {
  const bytes = Buffer.from(`${value}\0`);
  held.push(bytes);
  return ptr(bytes);
}

function list(values: string[]): Pointer {
  const pointers = new BigUint64Array(values.length + 1);
  values.forEach((value, index) => {
    pointers[index] = BigInt(text(value));
  });
  held.push(pointers);
  return ptr(pointers);
}

/** When memory runs out on the whole machine, scripts go before the server. */
function offerToKernel(): void {
  try {
    writeFileSync("/proc/self/oom_score_adj", OUT_OF_MEMORY_FIRST);
  } catch {
    // A container may keep it as it is.
  }
}

must("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
offerToKernel();
for (const [resource, most] of spec.limits) limit(resource, most);
if (process.geteuid?.() === 0) dropCapabilities();
const channel = Number(process.env.NODE_CHANNEL_FD ?? 3);
call("close_range", channel + 1, 0xffffffff, CLOSE_RANGE_CLOEXEC);
if (spec.landlock > 0) {
  // The rule for its own entry in /proc is bound to what stands for it in memory, which an open descriptor keeps there.
  openPath("/proc/self", 0);
  restrictFiles();
}
libc.fcntl(channel, F_SETFD, 0);
const environment = { ...process.env, NODE_CHANNEL_FD: String(channel) };
const program = text(spec.command[0]!);
const argv = list(spec.command);
const envp = list(Object.entries(environment).map(([name, value]) => `${name}=${value}`));
if (spec.seccomp) filterCalls();
libc.execve(program, argv, envp);
refuse(`${spec.command[0]} could not be started: errno ${read.i32(libc.__errno_location()!, 0)}`);
