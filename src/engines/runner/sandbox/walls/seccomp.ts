/**
 * The filter of system calls (seccomp(2)) that scripts run under. Landlock watches over files; this closes what goes
 * past it: sockets of other programs on this machine, which are reached by a path that Landlock does not ask about,
 * signals where the kernel is too old to scope them, limits of other processes, rights of files that are taken over from
 * their owner or given away, and what a script has no use for.
 */
import {
  AND,
  ANY_BIT,
  ARCHITECTURE,
  allow,
  argument,
  EQUALS,
  encoded,
  type Instruction,
  LOAD,
  NUMBER,
  noBit,
  noneOf,
  oneOf,
  oneOfLoaded,
  refuse,
} from "./bpf.ts";
import { type Architecture, SYSCALLS, type Syscall, X64_ONLY } from "./syscalls.ts";

const EPERM = 1;
const EACCES = 13;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const EOPNOTSUPP = 95;

const AUDIT_ARCH: Record<Architecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** Calls of x86-64 with pointers of 32 bits: another set of numbers, for which nothing is looked up here. */
const X32_BIT = 0x40000000;

const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
/** Of the protocols of the internet (IPPROTO_…): what the kind of socket says, ICMP, TCP, UDP, ICMPv6, UDP-Lite. */
const ASKED_ABOUT = [0, 1, 6, 17, 58, 136];
const MSG_FASTOPEN = 0x20000000;
const SOCK_TYPE_MASK = 0xf;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
/** Commands of fcntl(2) and ioctl(2) that have the kernel signal another process: F_SETOWN and F_SETSIG and their like. */
const SIGNALLING_FCNTL = [8, 10, 15];
const SIGNALLING_IOCTL = [0x8901, 0x8902];
/** CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NEW_NAMESPACES = 0x7e020080;

/** What a script has no use for, and what has let others out of sandboxes before. */
const REFUSED: Syscall[] = [
  "ptrace",
  "process_vm_readv",
  "process_vm_writev",
  "pidfd_getfd",
  "mount",
  "umount2",
  "pivot_root",
  "chroot",
  "open_tree",
  "move_mount",
  "fsopen",
  "fsconfig",
  "fsmount",
  "fspick",
  "mount_setattr",
  "unshare",
  "setns",
  "name_to_handle_at",
  "open_by_handle_at",
  "bpf",
  "perf_event_open",
  "userfaultfd",
  "init_module",
  "finit_module",
  "delete_module",
  "kexec_load",
  "kexec_file_load",
  "reboot",
  "swapon",
  "add_key",
  "request_key",
  "keyctl",
  // What is shared by a number belongs to the user, to whichever workspace a script is of, and outlasts its process.
  "shmget",
  "shmat",
  "shmctl",
  "semget",
  "semop",
  "semtimedop",
  "semctl",
  "msgget",
  "msgsnd",
  "msgrcv",
  "msgctl",
  "mq_open",
  // They tell the names of files in folders that Landlock lets nobody list.
  "inotify_add_watch",
  "fanotify_init",
];

/** Programs do without these when a kernel does not have them; their arguments cannot be judged from here. */
const UNKNOWN: Syscall[] = ["io_uring_setup", "io_uring_enter", "io_uring_register", "clone3", "openat2"];

/** Calls that say when a process runs; the first argument is its id, 0 the caller itself. */
const SCHEDULING: Syscall[] = ["sched_setscheduler", "sched_setparam", "sched_setattr", "sched_setaffinity"];

/** Calls that signal a process whose id is their first argument. */
const SIGNALS: Syscall[] = ["kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open"];

/** Calls that connect while they send (TCP Fast Open), which Landlock is not asked about; which argument their flags are. */
const SENDING: [Syscall, number][] = [
  ["sendto", 3],
  ["sendmsg", 2],
  ["sendmmsg", 3],
];

/** The bits of a mode that let whoever runs a file act as its user or its group (inode(7)). */
const SET_ID_BITS = 0o6000;
/** Without these flags a file is not made, and its mode is whatever the caller left there (open(2)). */
const MAKES_FILE = 0o100 | 0o20000000;

type AnySyscall = Syscall | keyof typeof X64_ONLY;

/** Calls that set a mode; which argument it is. */
const SETTING_MODES: [AnySyscall, number][] = [
  ["chmod", 1],
  ["fchmod", 1],
  ["fchmodat", 2],
  ["fchmodat2", 2],
  ["creat", 1],
  ["mknod", 1],
  ["mknodat", 2],
];

/** Calls that open a file or make it; which argument the flags are, before the mode. */
const OPENING: [AnySyscall, number][] = [
  ["openat", 2],
  ["open", 1],
];

const CHANGING_OWNERS: AnySyscall[] = ["chown", "lchown", "fchown", "fchownat"];

/**
 * Calls that label a file by its path, which no wall asks about; programs that copy labels do without them where a file
 * system has none. By a descriptor they are open: that was opened through the walls.
 */
const LABELLING: Syscall[] = [
  "setxattr",
  "lsetxattr",
  "removexattr",
  "lremovexattr",
  "setxattrat",
  "removexattrat",
  "file_setattr",
];

export interface FilterOptions {
  architecture: Architecture;
  /** Landlock's version; 0 without it. */
  landlock: number;
  /** Processes that may not be signalled. */
  guarded: number[];
  /** Landlock lets TCP connect to named ports only. */
  hasPorts: boolean;
}

/** @returns the program's bytes: eight for each instruction (struct sock_filter) */
export function filterOf({ architecture, landlock, guarded, hasPorts }: FilterOptions): Uint8Array {
  const numbers: Partial<Record<AnySyscall, number>> = {
    ...SYSCALLS[architecture],
    ...(architecture === "x64" ? X64_ONLY : {}),
  };
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [EQUALS, 1, 0, AUDIT_ARCH[architecture]],
    refuse(ENOSYS),
    [LOAD, 0, 0, NUMBER],
  ];
  if (architecture === "x64") program.push([ANY_BIT, 0, 1, X32_BIT], refuse(ENOSYS));
  /** What stands here is decided for this call alone; it ends with an answer. */
  const on = (call: AnySyscall, body: Instruction[]) => {
    const number = numbers[call];
    if (number !== undefined) program.push([EQUALS, 0, body.length, number], ...body);
  };

  // First, since programs open files more often than anything else that is decided here.
  for (const [call, flags] of OPENING) {
    const bits = noBit(argument(flags + 1), SET_ID_BITS, EPERM);
    on(call, [[LOAD, 0, 0, argument(flags)], [ANY_BIT, 0, bits.length, MAKES_FILE], ...bits, allow()]);
  }
  on("socket", socketsOf(hasPorts));
  if (hasPorts)
    for (const [call, flags] of SENDING) on(call, noBit(argument(flags), MSG_FASTOPEN, EOPNOTSUPP));
  on("socketpair", [
    [LOAD, 0, 0, argument(1)],
    [AND, 0, 0, SOCK_TYPE_MASK],
    ...oneOfLoaded([SOCK_STREAM, SOCK_SEQPACKET], EACCES),
  ]);
  on("clone", noBit(argument(0), NEW_NAMESPACES, EPERM));
  // The limits of any process of the same user could be set otherwise.
  on("prlimit64", oneOf(argument(0), [0], EPERM));
  // Nor may others of the user be slowed down.
  for (const call of SCHEDULING) on(call, oneOf(argument(0), [0], EPERM));
  for (const call of ["setpriority", "ioprio_set"] as const) {
    const isMine = oneOf(argument(1), [0], EPERM);
    on(call, [
      [LOAD, 0, 0, argument(0)],
      [EQUALS, 0, isMine.length, whoseOwn(call)],
      ...isMine,
      refuse(EPERM),
    ]);
  }
  on("fcntl", noneOf(argument(1), SIGNALLING_FCNTL, EPERM));
  on("ioctl", noneOf(argument(1), SIGNALLING_IOCTL, EPERM));
  // With -1 goes everything that the user may signal.
  const whole = [-1, ...guarded.flatMap((pid) => [pid, -pid])];
  for (const call of SIGNALS) on(call, noneOf(argument(0), call === "kill" ? whole : guarded, EPERM));
  // Before its third version Landlock does not ask about files that are cut off by their name.
  if (landlock < 3) on("truncate", [refuse(EACCES)]);
  for (const [call, mode] of SETTING_MODES) on(call, noBit(argument(mode), SET_ID_BITS, EPERM));
  for (const call of CHANGING_OWNERS) on(call, [refuse(EPERM)]);
  for (const call of LABELLING) on(call, [refuse(EOPNOTSUPP)]);
  for (const call of REFUSED) on(call, [refuse(EPERM)]);
  for (const call of UNKNOWN) on(call, [refuse(ENOSYS)]);
  program.push(allow());
  return encoded(program);
}

/**
 * Sockets of the internet, and those that tell the machine's addresses. Where ports are named, only of protocols for
 * which Landlock is asked, or which the page on security says are open: TCP by several ways (MPTCP) is neither.
 */
function socketsOf(hasPorts: boolean): Instruction[] {
  const routes = oneOf(argument(2), [NETLINK_ROUTE], EACCES);
  const internet = hasPorts ? oneOf(argument(2), ASKED_ABOUT, EPROTONOSUPPORT) : [allow()];
  return [
    [LOAD, 0, 0, argument(0)],
    [EQUALS, 0, routes.length, AF_NETLINK],
    ...routes,
    [EQUALS, 2, 0, AF_INET],
    [EQUALS, 1, 0, AF_INET6],
    refuse(EACCES),
    ...internet,
  ];
}

/** What names a process by its id: PRIO_PROCESS, IOPRIO_WHO_PROCESS. */
function whoseOwn(call: "setpriority" | "ioprio_set"): number {
  return call === "setpriority" ? 0 : 1;
}
