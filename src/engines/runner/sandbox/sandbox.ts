/** The sandbox as the runner uses it: required and actual restrictions, and how a child is started inside. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { findPython, type Python } from "../../languages/python/find-python.ts";
import type { SandboxSettings } from "../types.ts";
import type { ChildFolders } from "./child-folders.ts";
import { describeSandbox } from "./describe.ts";
import { BWRAP_PROCESSES, createBwrapArguments } from "./isolation/bwrap.ts";
import {
  type AccessRight,
  createPortRule,
  createRuleset,
  describeLandlockFeatures,
  filterSupportedRights,
  type LandlockRule,
} from "./isolation/landlock.ts";
import { createLauncher } from "./isolation/launch.ts";
import type { LaunchSpec } from "./isolation/launch-plan.ts";
import { DEVICES, isPathWithin, listPathsAround, listSystemPaths, resolveLinks } from "./isolation/paths.ts";
import { createSyscallFilter } from "./isolation/seccomp.ts";
import { type Architecture, SYSCALLS } from "./isolation/syscalls.ts";
import { canConfineFiles, detectSandboxSupport, type SandboxSupport } from "./support.ts";
import { type ChildUser, type ChildUsers, createChildUsers, planUsers } from "./users/child-users.ts";

export interface SandboxOptions extends SandboxSettings {
  /** Maximum size of a file written by a script; 0: no limit. */
  max_file_bytes: number;
  max_children: number;
  /** Maximum processes of a job; 0: no limit. */
  max_processes: number;
  data_dir: string;
}

export interface Sandbox {
  /** Reason why no job may run: a required restriction is unavailable. */
  readonly refusal: string | undefined;
  /** One-line summary of the active restrictions. */
  readonly summary: string;
  /** Whether scripts are confined to their own files. */
  readonly confinesFiles: boolean;
  /** Number of wrapper processes around a child. */
  readonly wrapperProcesses: number;
  /** Finds the Python for scripts, preferably of this version; undefined if there is none. */
  python(version?: string): Promise<Python | undefined>;
  /** User ids of children; undefined: they run as the server's user. */
  readonly users: ChildUsers | undefined;
  /**
   * Returns the command that runs a program in the sandbox as this user. It may write a file beside the child's folders.
   * @throws system errors
   */
  commandFor(folders: ChildFolders, program: string[], user?: ChildUser): string[];
}

/** From this version on, Landlock itself restricts signals. */
const SIGNAL_SCOPE_VERSION = 6;

/** RLIMIT_… numbers, equal on all supported processors. */
const RLIMIT_FSIZE = 1;
const RLIMIT_CORE = 4;
const RLIMIT_NPROC = 6;
const RLIMIT_NOFILE = 7;

/** CAP_DAC_OVERRIDE: access to other users' files. Landlock protects those that matter. */
const CAP_DAC_OVERRIDE = 1;
const LAST_CAPABILITY = 63;

/** Lines of the limits in /proc/self/limits, with the maximum. */
const OWN_LIMITS: Record<number, RegExp> = {
  [RLIMIT_FSIZE]: /^Max file size +\w+ +(\w+)/m,
  [RLIMIT_CORE]: /^Max core file size +\w+ +(\w+)/m,
  [RLIMIT_NPROC]: /^Max processes +\w+ +(\w+)/m,
  [RLIMIT_NOFILE]: /^Max open files +\w+ +(\w+)/m,
};

const MAX_OPEN_FILES = 4_096;
/** RLIMIT_NPROC counts the threads of all processes of a user, including unrelated ones. */
const TASKS_PER_CHILD = 64;
const SPARE_TASKS = 2_048;
/** Limits for a user with a single child, or with the children of one flow that share a folder. */
const TASKS_PER_PROCESS = 2;
const OWN_SPARE_TASKS = 512;
const JOBS_PER_SHARED_USER = 4;

/**
 * Creates the sandbox for children of the runner.
 * @param launcher program that carries out a launch plan where launch programs cannot be executed
 * @param runner the runner's folder
 * @param runtime the children's programs
 * @param support capabilities of this machine
 */
export function createSandbox(
  options: SandboxOptions,
  launcher: string,
  runner: string,
  runtime: string,
  support: SandboxSupport = detectSandboxSupport(),
): Sandbox {
  const asked = new Map<string, Promise<Python | undefined>>();
  const python = (version = "") => {
    let found = asked.get(version);
    if (!found) {
      found = findPython(version || undefined);
      asked.set(version, found);
      // It may be installed while the server runs, and a search that failed may succeed.
      const forget = () => asked.delete(version);
      void found.then((python) => python ?? forget(), forget);
    }
    return found;
  };
  const { mode } = options;
  const refuses = findRefusalReason(mode, support);
  if (mode === "off" || process.platform !== "linux" || refuses !== undefined) {
    const holds =
      mode === "off" ? "none (SVC_SANDBOX=off)" : (refuses ?? `none (${support.missing ?? "not on Linux"})`);
    return {
      refusal: refuses,
      summary: holds,
      confinesFiles: false,
      wrapperProcesses: 0,
      users: undefined,
      python,
      commandFor: (_, program) => program,
    };
  }

  const data_dir = resolveLinks(options.data_dir);
  const isSuperuser = process.geteuid?.() === 0;
  const plan = planUsers(options, data_dir, support);
  const own = plan && "range" in plan ? plan : undefined;
  const isWalled = canConfineFiles(mode, support);
  const users = own && createChildUsers(own, data_dir, runner, isWalled);
  const isBoxed = mode === "bwrap";
  const devices = isBoxed ? ["/dev"] : DEVICES;
  const { landlock } = support;
  const ruleFor = (path: string, right: AccessRight): LandlockRule => [
    path,
    filterSupportedRights(landlock, right),
  ];
  const rulesFor = (paths: string[], folder: AccessRight, file: AccessRight) =>
    paths.flatMap((path) => {
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats ? [ruleFor(path, stats.isDirectory() ? folder : file)] : [];
    });
  /** Returns the sandbox restrictions of a child. @param passesRights the child bypasses file permissions */
  const isolationFor = (passesRights: boolean) => {
    const named = [...listSystemPaths(passesRights), ...options.read];
    const readable = named.flatMap((path) => excludeDataDir(path, data_dir));
    const read = [...readable, process.execPath, runtime, join(runner, "dependencies")];
    const rules: LandlockRule[] = [
      ...rulesFor(read, "read", "readFile"),
      ...rulesFor(options.write, "write", "device"),
      ...rulesFor(devices, "write", "device"),
      // In its own namespaces a child sees only its own processes and temporary files.
      ...(isBoxed ? rulesFor(["/proc"], "read", "read") : []),
      ...(isBoxed ? rulesFor(["/tmp"], "write", "write") : []),
      ruleFor("/proc/self", "read"),
    ];
    return { read, rules };
  };
  const architecture = process.arch as Architecture;
  const launcherFor = (rules: LandlockRule[]) =>
    createLauncher(
      {
        numbers: SYSCALLS[architecture],
        ruleset: landlock > 0 ? createRuleset(landlock, options.ports !== undefined) : undefined,
        rules,
        ports: describeLandlockFeatures(landlock).ports ? (options.ports ?? []).map(createPortRule) : [],
        capabilities: isSuperuser ? capabilitiesToDrop() : [],
      },
      architecture,
      runner,
      launcher,
    );
  const createIsolation = (passesRights: boolean) => {
    const { read, rules } = isolationFor(passesRights);
    return { read, launcher: launcherFor(rules) };
  };
  const all = createIsolation(isSuperuser);
  const withRights = users ? createIsolation(false) : all;
  // In its own PID namespace a child cannot see the server, whose id may belong to another process there.
  const guarded = isBoxed ? [] : landlock < SIGNAL_SCOPE_VERSION ? ownThreads() : [process.pid];
  const filter = support.seccomp
    ? Buffer.from(
        createSyscallFilter({ architecture, landlock, guarded, hasPorts: options.ports !== undefined }),
      ).toString("base64")
    : undefined;
  const limits: [number, number][] = [
    [RLIMIT_CORE, 0],
    [RLIMIT_NOFILE, MAX_OPEN_FILES],
  ];
  if (options.max_file_bytes > 0) limits.push([RLIMIT_FSIZE, options.max_file_bytes]);
  const { max_processes } = options;
  const most_tasks = users
    ? TASKS_PER_PROCESS * max_processes + (max_processes > 0 ? OWN_SPARE_TASKS : SPARE_TASKS)
    : runningTasks() + options.max_children * TASKS_PER_CHILD + SPARE_TASKS;

  return {
    refusal: undefined,
    summary: describeSandbox(support, options, plan),
    confinesFiles: isWalled || own?.leavesFilesOpen === false,
    wrapperProcesses: isBoxed ? BWRAP_PROCESSES : 0,
    users,
    python,
    commandFor({ job, code, access }, program, user) {
      const { read, launcher } = user?.keeps.length === 0 ? withRights : all;
      const given = [code, ...(access.read ?? []).flatMap((path) => excludeDataDirBelow(path, data_dir))];
      const write = access.shared === undefined ? [job] : [job, access.shared];
      const rules = [...rulesFor(given, "read", "readFile"), ...write.map((path) => ruleFor(path, "write"))];
      // Jobs of a flow that share a folder share their user id.
      const tasks = users && access.shared !== undefined ? JOBS_PER_SHARED_USER * most_tasks : most_tasks;
      const spec: LaunchSpec = {
        limits: lowerToOwn([...limits, [RLIMIT_NPROC, tasks]]),
        rules,
        filter,
        command: program,
      };
      if (user) spec.user = { uid: user.uid, gid: user.gid, groups: user.groups, keeps: user.keeps };
      const file = join(dirname(job), "launch");
      const command = launcher.commandFor(spec, file);
      if (!isBoxed) return command;
      const mounts = {
        read: [...read, ...given, file],
        write: [...write, ...options.write],
        home: job,
        isForOthers: user !== undefined,
      };
      return [support.bwrap!, ...createBwrapArguments(mounts), ...command];
    },
  };
}

/** Like `excludeDataDir`, for what a tool reads: its own folder may be inside the data directory, as installed packages are. */
function excludeDataDirBelow(path: string, data_dir: string): string[] {
  const real = resolveLinks(path);
  return isPathWithin(data_dir, real) ? listPathsAround(real, data_dir) : [path];
}

/** Returns the path; if it contains the data directory, the paths beside that. */
function excludeDataDir(path: string, data_dir: string): string[] {
  const real = resolveLinks(path);
  return isPathWithin(data_dir, real) || isPathWithin(real, data_dir)
    ? listPathsAround(real, data_dir)
    : [path];
}

/** Lowers limits to the maximums of this process, which its children could raise only as root. */
function lowerToOwn(limits: [resource: number, most: number][]): [number, number][] {
  const text = readFileSync("/proc/self/limits", "utf8");
  return limits.map(([resource, most]) => {
    // The columns are soft limit, hard limit and unit; a limit may be `unlimited`.
    const [, own] = OWN_LIMITS[resource]!.exec(text) ?? [];
    return [resource, Number.isNaN(Number(own)) ? most : Math.min(most, Number(own))];
  });
}

/** Returns why no job may run with this mode; undefined if jobs may run. */
export function findRefusalReason(
  mode: SandboxSettings["mode"],
  support: SandboxSupport,
): string | undefined {
  if (mode === "required" && support.landlock === 0) {
    return `SVC_SANDBOX=required, and ${support.missing}`;
  }
  if (mode === "bwrap" && support.bwrap === undefined) {
    return "SVC_SANDBOX=bwrap, and bubblewrap (bwrap) is not installed";
  }
  return undefined;
}

function capabilitiesToDrop(): number[] {
  const all = Array.from({ length: LAST_CAPABILITY + 1 }, (_, capability) => capability);
  return all.filter((capability) => capability !== CAP_DAC_OVERRIDE);
}

/** Returns the number of tasks on the whole machine (proc(5), loadavg). */
function runningTasks(): number {
  try {
    return Number(/\/(\d+)/.exec(readFileSync("/proc/loadavg", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Lists this process's threads: a signal to a thread reaches its process. */
function ownThreads(): number[] {
  return readdirSync("/proc/self/task").map(Number);
}
