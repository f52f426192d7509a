/**
 * What the process of a child does before it becomes the child's program: system calls that restrict it, all of which
 * are inherited and irrevocable. The server prepares them, because every start waits for them.
 */
import type { LandlockRule } from "./landlock.ts";
import type { Syscall } from "./syscalls.ts";

/** Restrictions that the children of a sandbox have in common. */
export interface CommonSpec {
  /** System call numbers of this processor. */
  numbers: Record<Syscall, number>;
  /** Capabilities of root to drop; empty for other users. */
  capabilities: number[];
  /** Landlock ruleset in 64-bit words; absent without Landlock. */
  ruleset?: number[] | undefined;
  rules: LandlockRule[];
  /** Landlock's TCP port rules, in 64-bit words. */
  ports: number[][];
}

/** Restrictions of one child. */
export interface LaunchSpec {
  /** Resource (RLIMIT_…) and its maximum. */
  limits: [resource: number, most: number][];
  /** Further Landlock rules. */
  rules: LandlockRule[];
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

/** A number, or the address of a null-terminated text, of bytes in base64, or of 64-bit words. */
export type Operand = number | string | { bytes: string } | { words: Operand[] };

export interface LaunchCall {
  /** Of this processor. */
  number: number;
  name: Syscall;
  operands: Operand[];
  /** How many of the next calls to leave out if this one fails; undefined: the child does not start. */
  skipped?: number;
}

/** What a child does after the common calls: its own calls, and the program to become, with its arguments. */
export interface LaunchPlan {
  own: LaunchCall[];
  /** Number of the call. */
  execve: number;
  command: string[];
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
const F_DUPFD = 0;
const F_SETFD = 2;
const STDERR = 2;
const OUT_OF_MEMORY_FIRST = "500";

/** Descriptor of the channel to the server. The program starts with this one and the standard streams. */
const CHANNEL = 3;
/** All higher descriptors are closed first, so those that the calls open have known numbers. */
const FIRST_OPENED = CHANNEL + 1;

const RULESET = FIRST_OPENED + 1;
const OPENED_PATH = RULESET + 1;

/** Collects calls. */
function createCollector(numbers: Record<Syscall, number>) {
  const calls: LaunchCall[] = [];
  const require = (name: Syscall, ...operands: Operand[]) =>
    calls.push({ number: numbers[name], name, operands });
  const attempt = (skipped: number, name: Syscall, ...operands: Operand[]) =>
    calls.push({ number: numbers[name], name, operands, skipped });
  const addRules = (rules: LandlockRule[]) => {
    for (const [path, rights] of rules) {
      // A path that no longer exists has no rule.
      attempt(2, "openat", AT_FDCWD, path, O_PATH | O_CLOEXEC);
      // struct landlock_path_beneath_attr, packed: 64-bit rights and a 32-bit descriptor.
      const rule = { words: [rights, OPENED_PATH] };
      require("landlock_add_rule", RULESET, LANDLOCK_RULE_PATH_BENEATH, rule, 0);
      require("close", OPENED_PATH);
    }
  };
  return { calls, require, attempt, addRules };
}

/** Creates the calls that all children of a sandbox begin with. */
export function createCommonCalls({
  numbers,
  capabilities,
  ruleset,
  rules,
  ports,
}: CommonSpec): LaunchCall[] {
  const { calls, require, attempt, addRules } = createCollector(numbers);
  // Occupies the channel's descriptor if the process has none, so that the next ones have the numbers expected.
  attempt(0, "fcntl", STDERR, F_DUPFD, CHANNEL);
  attempt(0, "close", FIRST_OPENED);
  attempt(0, "close_range", FIRST_OPENED, 0xffffffff, 0);
  require("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  // The OOM killer shall prefer scripts to the server. A container may forbid it.
  attempt(2, "openat", AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  attempt(0, "write", FIRST_OPENED, OUT_OF_MEMORY_FIRST, OUT_OF_MEMORY_FIRST.length);
  require("close", FIRST_OPENED);
  for (const capability of capabilities) attempt(0, "prctl", PR_CAPBSET_DROP, capability, 0, 0, 0);
  if (!ruleset) return calls;
  // Landlock binds the rule for /proc/self to its inode, which an open descriptor keeps in memory.
  require("openat", AT_FDCWD, "/proc/self", O_PATH);
  require("landlock_create_ruleset", { words: ruleset }, ruleset.length * 8, 0);
  addRules(rules);
  for (const port of ports) require("landlock_add_rule", RULESET, LANDLOCK_RULE_NET_PORT, { words: port }, 0);
  return calls;
}

/** Creates the plan of one child. @param spec the common restrictions, and its own */
export function createLaunchPlan(
  { numbers, ruleset }: CommonSpec,
  { limits, rules, filter, user, command }: LaunchSpec,
): LaunchPlan {
  const { calls, require, attempt, addRules } = createCollector(numbers);

  /** Changes to another user without capabilities except the ones to keep, which its programs inherit. */
  function becomeUser({ uid, gid, groups, keeps }: LaunchUser): void {
    require("setgroups", groups.length, { bytes: createWords32(groups) });
    if (keeps.length > 0) require("prctl", PR_SET_KEEPCAPS, 1, 0, 0, 0);
    require("setresgid", gid, gid, gid);
    require("setresuid", uid, uid, uid);
    if (keeps.length === 0) return;
    // Effective, permitted and inheritable sets of 32 bits each; three further words for capabilities from 32 on.
    const bits = keeps.reduce((all, capability) => all | (1 << capability), 0);
    const sets = createWords32([bits, bits, bits, 0, 0, 0]);
    require("capset", { bytes: createWords32([CAPABILITY_VERSION, 0]) }, { bytes: sets });
    for (const capability of keeps) require("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
  }

  if (ruleset) {
    addRules(rules);
    require("landlock_restrict_self", RULESET, 0);
    require("close", RULESET);
  }
  for (const [resource, most] of limits) require("prlimit64", 0, resource, { words: [most, most] }, 0);
  attempt(0, "fcntl", CHANNEL, F_SETFD, 0);
  if (user) becomeUser(user);
  // struct sock_fprog: the number of eight-byte instructions, and their address.
  if (filter !== undefined) {
    const program = { words: [Buffer.from(filter, "base64").length / 8, { bytes: filter }] };
    require("seccomp", SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, program);
  }
  return { own: calls, execve: numbers.execve, command };
}

function createWords32(values: number[]): string {
  return Buffer.from(new Uint32Array(values).buffer).toString("base64");
}
