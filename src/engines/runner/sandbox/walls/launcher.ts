/**
 * Puts the walls up around itself, then becomes the program of a child: everything set here is kept by it and by
 * whatever it starts, and none can take it down again. Landlock binds the thread that asks for it, and only that one:
 * the runtime's other threads end with `execve`. Self-contained, as the child's program is, and short: each start of a
 * process waits for it, so what can be worked out before, the server hands over ready (`sandbox.ts`).
 */
import { dlopen, type Pointer, ptr, read } from "bun:ffi";
import type { Rule } from "./landlock.ts";
import type { Syscall } from "./syscalls.ts";

/** What the server asks for: the launcher's one argument, as JSON. */
export interface LaunchSpec {
  /** Numbers of the system calls on this processor. */
  numbers: Record<Syscall, number>;
  /** Resource (RLIMIT_…) and the most of it. */
  limits: [resource: number, most: number][];
  /** The superuser's capabilities that go; none for other users. */
  capabilities: number[];
  /** Landlock's ruleset in words of 64 bits; left out where the kernel has no Landlock. */
  ruleset?: number[] | undefined;
  rules: Rule[];
  /** Landlock's rules for TCP ports, in words of 64 bits each. */
  ports: number[][];
  /** The filter of system calls, base64; left out where the kernel takes none. */
  filter?: string | undefined;
  /** Whom it becomes; left out where scripts run as the server's user. */
  user?: LaunchUser | undefined;
  /** The program and its arguments. */
  command: string[];
}

export interface LaunchUser {
  uid: number;
  gid: number;
  groups: number[];
  /** Capabilities that it keeps all the same. */
  keeps: number[];
}

const PR_SET_NO_NEW_PRIVS = 38;
const PR_SET_KEEPCAPS = 8;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_RAISE = 2;
const CAPABILITY_VERSION = 0x20080522;
const PR_CAPBSET_DROP = 24;
const SECCOMP_SET_MODE_FILTER = 1;
/** Without it, older kernels slow the process down by much (Spectre v4), for nothing that it could still learn. */
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
/** What the kernel reads must not be collected before it has. */
const held: unknown[] = [];

function openLibc() {
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(name, {
        syscall: { args: ["i64", "u64", "u64", "u64", "u64", "u64"], returns: "i64" },
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

/** @returns what the kernel answers; -1 when it refuses */
function call(name: Syscall, a: number, b = 0, c = 0, d = 0, e = 0): number {
  return Number(libc.syscall(numbers[name], a, b, c, d, e));
}

function must(name: Syscall, a: number, b = 0, c = 0, d = 0, e = 0): number {
  const answer = call(name, a, b, c, d, e);
  return answer < 0 ? refuse(`${name}: errno ${read.i32(libc.__errno_location()!, 0)}`) : answer;
}

function address(bytes: NodeJS.TypedArray): Pointer {
  held.push(bytes);
  return ptr(bytes);
}

function text(value: string): Pointer {
  return address(Buffer.from(`${value}\0`));
}

function words(values: number[]): Pointer {
  return address(new BigUint64Array(values.map(BigInt)));
}

/** A list of texts that ends with a null pointer. */
function list(values: string[]): Pointer {
  return words([...values.map(text), 0]);
}

/** When memory runs out on the whole machine, scripts go before the server. A container may keep that as it is. */
function offerToKernel(): void {
  const file = call("openat", AT_FDCWD, text("/proc/self/oom_score_adj"), O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  call("write", file, text(OUT_OF_MEMORY_FIRST), OUT_OF_MEMORY_FIRST.length);
  call("close", file);
}

/** Lowers limits; one that is lower already stays. */
function limit(): void {
  const bounds = new BigUint64Array(2);
  const at = address(bounds);
  for (const [resource, most] of spec.limits) {
    must("prlimit64", 0, resource, 0, at);
    const lowest = bounds[1]! < BigInt(most) ? bounds[1]! : BigInt(most);
    bounds.fill(lowest);
    must("prlimit64", 0, resource, at);
  }
}

function restrictFiles(ruleset: number[]): void {
  // The rule for its own entry in /proc is bound to what stands for it in memory, which an open descriptor keeps there.
  call("openat", AT_FDCWD, text("/proc/self"), O_PATH);
  const descriptor = must("landlock_create_ruleset", words(ruleset), ruleset.length * 8);
  // struct landlock_path_beneath_attr, which is packed: rights of 64 bits and a descriptor of 32.
  const rule = new Int32Array(3);
  const at = address(rule);
  for (const [path, rights] of spec.rules) {
    const opened = call("openat", AT_FDCWD, text(path), O_PATH | O_CLOEXEC);
    // Nothing is there any more.
    if (opened < 0) continue;
    rule[0] = rights;
    rule[2] = opened;
    must("landlock_add_rule", descriptor, LANDLOCK_RULE_PATH_BENEATH, at);
    call("close", opened);
  }
  for (const port of spec.ports) must("landlock_add_rule", descriptor, LANDLOCK_RULE_NET_PORT, words(port));
  must("landlock_restrict_self", descriptor);
  call("close", descriptor);
}

/** struct sock_fprog: how many instructions of eight bytes, and where they are. */
function filterCalls(filter: Buffer): void {
  const program = words([filter.length / 8, address(filter)]);
  must("seccomp", SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, program);
}

/** Becomes another user, without any capability but those that it keeps, which pass on to what it starts. */
function becomeUser({ uid, gid, groups, keeps }: LaunchUser): void {
  must("setgroups", groups.length, address(new Uint32Array(groups)));
  if (keeps.length > 0) must("prctl", PR_SET_KEEPCAPS, 1);
  must("setresgid", gid, gid, gid);
  must("setresuid", uid, uid, uid);
  if (keeps.length === 0) return;
  // Effective, permitted and inheritable ones, of 32 bits each; those from 32 on in three words more.
  const bits = keeps.reduce((all, capability) => all | (1 << capability), 0);
  const header = address(new Uint32Array([CAPABILITY_VERSION, 0]));
  must("capset", header, address(new Uint32Array([bits, bits, bits, 0, 0, 0])));
  for (const capability of keeps) must("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability);
}

must("prctl", PR_SET_NO_NEW_PRIVS, 1);
offerToKernel();
limit();
for (const capability of spec.capabilities) call("prctl", PR_CAPBSET_DROP, capability);
const channel = Number(process.env.NODE_CHANNEL_FD ?? 3);
call("close_range", channel + 1, 0xffffffff, CLOSE_RANGE_CLOEXEC);
if (spec.ruleset) restrictFiles(spec.ruleset);
call("fcntl", channel, F_SETFD, 0);
if (spec.user) becomeUser(spec.user);
// After the user, with whom it would change back: what outlives the server ends with it.
const environment = { ...process.env, NODE_CHANNEL_FD: String(channel) };
const program = text(spec.command[0]!);
const argv = list(spec.command);
const envp = list(Object.entries(environment).map(([name, value]) => `${name}=${value}`));
if (spec.filter !== undefined) filterCalls(Buffer.from(spec.filter, "base64"));
call("execve", program, argv, envp);
refuse(`${spec.command[0]} could not be started: errno ${read.i32(libc.__errno_location()!, 0)}`);
