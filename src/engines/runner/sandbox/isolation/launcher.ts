/**
 * Restricts itself, then becomes the child's program; all restrictions are inherited and irrevocable. Landlock binds
 * only the calling thread, but the runtime's other threads end with `execve`. Self-contained and short, because every
 * process start waits for it: the server prepares as much as possible (`sandbox.ts`).
 */
import { dlopen, type Pointer, ptr, read } from "bun:ffi";
import type { LandlockRule } from "./landlock.ts";
import type { Syscall } from "./syscalls.ts";

/** The launcher's single argument, as JSON. */
export interface LaunchSpec {
  /** System call numbers of this processor. */
  numbers: Record<Syscall, number>;
  /** Resource (RLIMIT_…) and its maximum. */
  limits: [resource: number, most: number][];
  /** Capabilities of root to drop; empty for other users. */
  capabilities: number[];
  /** Landlock ruleset in 64-bit words; absent without Landlock. */
  ruleset?: number[] | undefined;
  rules: LandlockRule[];
  /** Landlock's TCP port rules, in 64-bit words. */
  ports: number[][];
  /** Seccomp filter, base64; absent without seccomp. */
  filter?: string | undefined;
  /** User to change to; absent if scripts run as the server's user. */
  user?: LaunchUser | undefined;
  /** Program and arguments. */
  command: string[];
}

export interface LaunchUser {
  uid: number;
  gid: number;
  groups: number[];
  /** Capabilities it keeps. */
  keeps: number[];
}

const PR_SET_NO_NEW_PRIVS = 38;
const PR_SET_KEEPCAPS = 8;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_RAISE = 2;
const CAPABILITY_VERSION = 0x20080522;
const PR_CAPBSET_DROP = 24;
const SECCOMP_SET_MODE_FILTER = 1;
/** Without it, older kernels slow the process down considerably (Spectre v4 mitigation), to no benefit here. */
const SECCOMP_FILTER_FLAG_SPEC_ALLOW = 4;
const LANDLOCK_RULE_PATH_BENEATH = 1;
const LANDLOCK_RULE_NET_PORT = 2;
const AT_FDCWD = -100;
const O_WRONLY = 1;
const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;
const F_SETFD = 2;
const CLOSE_RANGE_CLOEXEC = 4;
const OUT_OF_MEMORY_FIRST = "500";

const libc = openLibc();
const spec = JSON.parse(process.argv[2]!) as LaunchSpec;
const { numbers } = spec;
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
  return failSetup("the C library was not found");
}

function failSetup(why: string): never {
  process.stderr.write(`the sandbox could not be set up: ${why}\n`);
  process.exit(126);
}

/** Calls a system call by its name on this processor. @returns the kernel's result; -1 on error */
function callSystem(name: Syscall, a: number, b = 0, c = 0, d = 0, e = 0): number {
  return Number(libc.syscall(numbers[name], a, b, c, d, e));
}

function requireCall(name: Syscall, a: number, b = 0, c = 0, d = 0, e = 0): number {
  const answer = callSystem(name, a, b, c, d, e);
  return answer < 0 ? failSetup(`${name}: errno ${read.i32(libc.__errno_location()!, 0)}`) : answer;
}

function address(bytes: NodeJS.TypedArray): Pointer {
  keptAlive.push(bytes);
  return ptr(bytes);
}

function text(value: string): Pointer {
  return address(Buffer.from(`${value}\0`));
}

function words(values: number[]): Pointer {
  return address(new BigUint64Array(values.map(BigInt)));
}

/** Returns a null-terminated list of texts. */
function list(values: string[]): Pointer {
  return words([...values.map(text), 0]);
}

/** Makes the OOM killer prefer scripts to the server. A container may forbid it. */
function preferForOomKill(): void {
  const file = callSystem("openat", AT_FDCWD, text("/proc/self/oom_score_adj"), O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  callSystem("write", file, text(OUT_OF_MEMORY_FIRST), OUT_OF_MEMORY_FIRST.length);
  callSystem("close", file);
}

/** Lowers resource limits; lower ones stay. */
function lowerLimits(): void {
  const bounds = new BigUint64Array(2);
  const at = address(bounds);
  for (const [resource, most] of spec.limits) {
    requireCall("prlimit64", 0, resource, 0, at);
    const lowest = bounds[1]! < BigInt(most) ? bounds[1]! : BigInt(most);
    bounds.fill(lowest);
    requireCall("prlimit64", 0, resource, at);
  }
}

function restrictFiles(ruleset: number[]): void {
  // Landlock binds the rule for /proc/self to its inode, which an open descriptor keeps in memory.
  callSystem("openat", AT_FDCWD, text("/proc/self"), O_PATH);
  const descriptor = requireCall("landlock_create_ruleset", words(ruleset), ruleset.length * 8);
  // struct landlock_path_beneath_attr, packed: 64-bit rights and a 32-bit descriptor.
  const rule = new Int32Array(3);
  const at = address(rule);
  for (const [path, rights] of spec.rules) {
    const opened = callSystem("openat", AT_FDCWD, text(path), O_PATH | O_CLOEXEC);
    // The path no longer exists.
    if (opened < 0) continue;
    rule[0] = rights;
    rule[2] = opened;
    requireCall("landlock_add_rule", descriptor, LANDLOCK_RULE_PATH_BENEATH, at);
    callSystem("close", opened);
  }
  for (const port of spec.ports)
    requireCall("landlock_add_rule", descriptor, LANDLOCK_RULE_NET_PORT, words(port));
  requireCall("landlock_restrict_self", descriptor);
  callSystem("close", descriptor);
}

/** Installs the filter as struct sock_fprog: the number of eight-byte instructions, and their address. */
function installFilter(filter: Buffer): void {
  const program = words([filter.length / 8, address(filter)]);
  requireCall("seccomp", SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, program);
}

/** Changes to another user without capabilities except the ones to keep, which its programs inherit. */
function becomeUser({ uid, gid, groups, keeps }: LaunchUser): void {
  requireCall("setgroups", groups.length, address(new Uint32Array(groups)));
  if (keeps.length > 0) requireCall("prctl", PR_SET_KEEPCAPS, 1);
  requireCall("setresgid", gid, gid, gid);
  requireCall("setresuid", uid, uid, uid);
  if (keeps.length === 0) return;
  // Effective, permitted and inheritable sets of 32 bits each; three further words for capabilities from 32 on.
  const bits = keeps.reduce((all, capability) => all | (1 << capability), 0);
  const header = address(new Uint32Array([CAPABILITY_VERSION, 0]));
  requireCall("capset", header, address(new Uint32Array([bits, bits, bits, 0, 0, 0])));
  for (const capability of keeps) requireCall("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability);
}

requireCall("prctl", PR_SET_NO_NEW_PRIVS, 1);
preferForOomKill();
lowerLimits();
for (const capability of spec.capabilities) callSystem("prctl", PR_CAPBSET_DROP, capability);
const channel = Number(process.env.NODE_CHANNEL_FD ?? 3);
callSystem("close_range", channel + 1, 0xffffffff, CLOSE_RANGE_CLOEXEC);
if (spec.ruleset) restrictFiles(spec.ruleset);
callSystem("fcntl", channel, F_SETFD, 0);
if (spec.user) becomeUser(spec.user);
// Changing the user resets the parent-death signal, so it is set afterwards.
const environment = { ...process.env, NODE_CHANNEL_FD: String(channel) };
const program = text(spec.command[0]!);
const argv = list(spec.command);
const envp = list(Object.entries(environment).map(([name, value]) => `${name}=${value}`));
if (spec.filter !== undefined) installFilter(Buffer.from(spec.filter, "base64"));
callSystem("execve", program, argv, envp);
failSetup(`${spec.command[0]} could not be started: errno ${read.i32(libc.__errno_location()!, 0)}`);
