/**
 * Seccomp filter (seccomp(2)) of scripts. Landlock protects files; the filter covers what Landlock does not:
 * - local sockets of other programs, whose paths Landlock does not check
 * - signals, where the kernel is too old to scope them
 * - limits of other processes
 * - set-id bits and changes of ownership
 * - system calls without use for scripts
 */
import {
  AND,
  ARCHITECTURE_OFFSET,
  allowLoadedValues,
  allowValues,
  computeArgumentOffset,
  encodeProgram,
  type Instruction,
  JUMP_IF_ANY_BIT,
  JUMP_IF_EQUAL,
  LOAD,
  refuseBits,
  refuseValues,
  returnAllow,
  returnErrno,
  SYSCALL_NUMBER_OFFSET,
} from "./bpf.ts";
import { type Architecture, SYSCALLS, type Syscall, X64_ONLY } from "./syscalls.ts";

const EPERM = 1;
const EACCES = 13;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const EOPNOTSUPP = 95;

const AUDIT_ARCH: Record<Architecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** x86-64 calls with 32-bit pointers use other numbers, which this filter does not know. */
const X32_BIT = 0x40000000;

const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
/** Allowed internet protocols (IPPROTO_…): default, ICMP, TCP, UDP, ICMPv6, UDP-Lite. */
const ALLOWED_PROTOCOLS = [0, 1, 6, 17, 58, 136];
const MSG_FASTOPEN = 0x20000000;
const SOCK_TYPE_MASK = 0xf;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
/** Commands of fcntl(2) and ioctl(2) that make the kernel signal another process: F_SETOWN, F_SETSIG and similar. */
const SIGNALLING_FCNTL = [8, 10, 15];
const SIGNALLING_IOCTL = [0x8901, 0x8902];
/** CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NEW_NAMESPACES = 0x7e020080;

/** System calls without use for scripts that have enabled sandbox escapes before. */
const REFUSED_CALLS: Syscall[] = [
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
  // System V and POSIX IPC objects belong to the user, so they cross workspaces and outlive the process.
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
  // They reveal file names in folders that Landlock does not let scripts list.
  "inotify_add_watch",
  "fanotify_init",
];

/** Calls reported as unsupported, which programs handle; a filter cannot inspect their arguments. */
const MISSING_CALLS: Syscall[] = [
  "io_uring_setup",
  "io_uring_enter",
  "io_uring_register",
  "clone3",
  "openat2",
];

/** Scheduling calls; the first argument is the process id, 0 for the caller. */
const SCHEDULING_CALLS: Syscall[] = [
  "sched_setscheduler",
  "sched_setparam",
  "sched_setattr",
  "sched_setaffinity",
];

/** Signalling calls; the first argument is the process id. */
const SIGNAL_CALLS: Syscall[] = [
  "kill",
  "tkill",
  "tgkill",
  "rt_sigqueueinfo",
  "rt_tgsigqueueinfo",
  "pidfd_open",
];

/**
 * Calls that can connect while sending (TCP Fast Open), which Landlock does not check; with the index of their flags.
 */
const SEND_CALLS: [Syscall, number][] = [
  ["sendto", 3],
  ["sendmsg", 2],
  ["sendmmsg", 3],
];

/** Mode bits that make a program run as its file's user or group (inode(7)). */
const SET_ID_BITS = 0o6000;
/** Without these flags no file is created, and the mode argument is undefined (open(2)). */
const CREATES_FILE = 0o100 | 0o20000000;

type AnySyscall = Syscall | keyof typeof X64_ONLY;

/** Calls that set a mode, with the index of that argument. */
const MODE_CALLS: [AnySyscall, number][] = [
  ["chmod", 1],
  ["fchmod", 1],
  ["fchmodat", 2],
  ["fchmodat2", 2],
  ["creat", 1],
  ["mknod", 1],
  ["mknodat", 2],
];

/** Calls that open or create a file, with the index of their flags; the mode follows. */
const OPEN_CALLS: [AnySyscall, number][] = [
  ["openat", 2],
  ["open", 1],
];

const CHOWN_CALLS: AnySyscall[] = ["chown", "lchown", "fchown", "fchownat"];

/**
 * Calls that set extended attributes by path, which no restriction checks. Programs that copy attributes tolerate the
 * failure. The variants by descriptor are allowed, because opening was checked.
 */
const XATTR_CALLS: Syscall[] = [
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
  /** Landlock version; 0 without it. */
  landlock: number;
  /** Processes that must not be signalled. */
  guarded: number[];
  /** Landlock restricts TCP to certain ports. */
  hasPorts: boolean;
}

/** Creates the seccomp filter of a child. @returns the program, eight bytes per instruction (struct sock_filter) */
export function createSyscallFilter({
  architecture,
  landlock,
  guarded,
  hasPorts,
}: FilterOptions): Uint8Array {
  const numbers: Partial<Record<AnySyscall, number>> = {
    ...SYSCALLS[architecture],
    ...(architecture === "x64" ? X64_ONLY : {}),
  };
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE_OFFSET],
    [JUMP_IF_EQUAL, 1, 0, AUDIT_ARCH[architecture]],
    returnErrno(ENOSYS),
    [LOAD, 0, 0, SYSCALL_NUMBER_OFFSET],
  ];
  if (architecture === "x64") program.push([JUMP_IF_ANY_BIT, 0, 1, X32_BIT], returnErrno(ENOSYS));
  /** Adds rules for one call; they end with a decision. */
  const on = (call: AnySyscall, body: Instruction[]) => {
    const number = numbers[call];
    if (number !== undefined) program.push([JUMP_IF_EQUAL, 0, body.length, number], ...body);
  };

  // First, because opening files is by far the most frequent call.
  for (const [call, flags] of OPEN_CALLS) {
    const bits = refuseBits(computeArgumentOffset(flags + 1), SET_ID_BITS, EPERM);
    on(call, [
      [LOAD, 0, 0, computeArgumentOffset(flags)],
      [JUMP_IF_ANY_BIT, 0, bits.length, CREATES_FILE],
      ...bits,
      returnAllow(),
    ]);
  }
  on("socket", socketRules(hasPorts));
  if (hasPorts)
    for (const [call, flags] of SEND_CALLS)
      on(call, refuseBits(computeArgumentOffset(flags), MSG_FASTOPEN, EOPNOTSUPP));
  on("socketpair", [
    [LOAD, 0, 0, computeArgumentOffset(1)],
    [AND, 0, 0, SOCK_TYPE_MASK],
    ...allowLoadedValues([SOCK_STREAM, SOCK_SEQPACKET], EACCES),
  ]);
  on("clone", refuseBits(computeArgumentOffset(0), NEW_NAMESPACES, EPERM));
  // Otherwise limits of all processes of the user could be changed.
  on("prlimit64", allowValues(computeArgumentOffset(0), [0], EPERM));
  // Nor may the user's other processes be slowed down.
  for (const call of SCHEDULING_CALLS) on(call, allowValues(computeArgumentOffset(0), [0], EPERM));
  for (const call of ["setpriority", "ioprio_set"] as const) {
    const isMine = allowValues(computeArgumentOffset(1), [0], EPERM);
    on(call, [
      [LOAD, 0, 0, computeArgumentOffset(0)],
      [JUMP_IF_EQUAL, 0, isMine.length, getProcessSelector(call)],
      ...isMine,
      returnErrno(EPERM),
    ]);
  }
  on("fcntl", refuseValues(computeArgumentOffset(1), SIGNALLING_FCNTL, EPERM));
  on("ioctl", refuseValues(computeArgumentOffset(1), SIGNALLING_IOCTL, EPERM));
  // Process id -1 means every process that the user may signal.
  const whole = [-1, ...guarded.flatMap((pid) => [pid, -pid])];
  for (const call of SIGNAL_CALLS)
    on(call, refuseValues(computeArgumentOffset(0), call === "kill" ? whole : guarded, EPERM));
  // Before version 3, Landlock does not check truncation by path.
  if (landlock < 3) on("truncate", [returnErrno(EACCES)]);
  for (const [call, mode] of MODE_CALLS)
    on(call, refuseBits(computeArgumentOffset(mode), SET_ID_BITS, EPERM));
  for (const call of CHOWN_CALLS) on(call, [returnErrno(EPERM)]);
  for (const call of XATTR_CALLS) on(call, [returnErrno(EOPNOTSUPP)]);
  for (const call of REFUSED_CALLS) on(call, [returnErrno(EPERM)]);
  for (const call of MISSING_CALLS) on(call, [returnErrno(ENOSYS)]);
  program.push(returnAllow());
  return encodeProgram(program);
}

/**
 * Allows internet sockets and routing netlink. If ports are restricted, only protocols that Landlock checks or that
 * SECURITY.md lists as open: not MPTCP, for example.
 */
function socketRules(hasPorts: boolean): Instruction[] {
  const routes = allowValues(computeArgumentOffset(2), [NETLINK_ROUTE], EACCES);
  const internet = hasPorts
    ? allowValues(computeArgumentOffset(2), ALLOWED_PROTOCOLS, EPROTONOSUPPORT)
    : [returnAllow()];
  return [
    [LOAD, 0, 0, computeArgumentOffset(0)],
    [JUMP_IF_EQUAL, 0, routes.length, AF_NETLINK],
    ...routes,
    [JUMP_IF_EQUAL, 2, 0, AF_INET],
    [JUMP_IF_EQUAL, 1, 0, AF_INET6],
    returnErrno(EACCES),
    ...internet,
  ];
}

/** Returns the value that selects a process by its id: PRIO_PROCESS, IOPRIO_WHO_PROCESS. */
function getProcessSelector(call: "setpriority" | "ioprio_set"): number {
  return call === "setpriority" ? 0 : 1;
}
