/** The walls around children, as the pool sees them: what is to hold, what does, and how a child is started behind it. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { SandboxChoice } from "../types.ts";
import type { ChildFolders } from "./child-folders.ts";
import { whatHolds } from "./summary.ts";
import { hasWalls, type SandboxSupport, sandboxSupport } from "./support.ts";
import { type ChildUser, type ChildUsers, createChildUsers, planUsers } from "./users/child-users.ts";
import { BWRAP_PROCESSES, bwrapArguments } from "./walls/bwrap.ts";
import { portRule, type Right, type Rule, rightsIn, rulesetOf, wallsOf } from "./walls/landlock.ts";
import type { LaunchSpec } from "./walls/launcher.ts";
import { around, DEVICES, isWithin, systemPaths, withoutLinks } from "./walls/paths.ts";
import { findPython, type Python } from "./walls/python.ts";
import { filterOf } from "./walls/seccomp.ts";
import { type Architecture, SYSCALLS } from "./walls/syscalls.ts";

export interface SandboxOptions extends SandboxChoice {
  /** Most bytes of a file that a script writes; 0: no limit. */
  max_file_bytes: number;
  max_children: number;
  /** Most processes of a job; 0: no limit. */
  max_processes: number;
  data_dir: string;
}

export interface Sandbox {
  /** Why no job may run: what is required does not hold. */
  readonly refuses: string | undefined;
  /** In a line, what holds. */
  readonly holds: string;
  /** Whether scripts are kept to their own files. */
  readonly isWalled: boolean;
  /** How many processes of its own stand around a child, each in the one before. */
  readonly around: number;
  /** The Python that scripts run in, of this version if it is there; undefined when there is none. */
  python(version?: string): Promise<Python | undefined>;
  /** Whom children run as; undefined: as the server's user. */
  readonly users: ChildUsers | undefined;
  /** What is to be started so that a program runs behind the walls, as this user. */
  commandFor(folders: ChildFolders, program: string[], user?: ChildUser): string[];
}

/** From this version on Landlock itself keeps signals to what a script has started. */
const SCOPED_SIGNALS = 6;

/** RLIMIT_…, of the same number on all processors that are built for. */
const FILE_SIZE = 1;
const CORE = 4;
const PROCESSES = 6;
const OPEN_FILES = 7;

/** Reading and writing files of other users: those that matter are behind the wall around files. */
const CAP_DAC_OVERRIDE = 1;
const LAST_CAPABILITY = 63;

const MAX_OPEN_FILES = 4_096;
/** The system counts the threads of all processes of a user, of whatever else it runs too. */
const TASKS_PER_CHILD = 64;
const SPARE_TASKS = 2_048;
/** Of a user that has nothing but one child, or the children of one flow, which share a folder. */
const TASKS_PER_PROCESS = 2;
const OWN_SPARE_TASKS = 512;
const JOBS_SHARING = 4;

/** @param launcher the launcher's program · @param runner the runner's folder · @param runtime the children's programs · @param support of this machine */
export function createSandbox(
  options: SandboxOptions,
  launcher: string,
  runner: string,
  runtime: string,
  support: SandboxSupport = sandboxSupport(),
): Sandbox {
  const asked = new Map<string, Promise<Python | undefined>>();
  const python = (version = "") => {
    let found = asked.get(version);
    if (!found) {
      found = findPython(version || undefined);
      asked.set(version, found);
    }
    return found;
  };
  const { mode } = options;
  const refuses = whyRefused(mode, support);
  if (mode === "off" || process.platform !== "linux" || refuses !== undefined) {
    const holds =
      mode === "off" ? "none (SVC_SANDBOX=off)" : (refuses ?? `none (${support.missing ?? "not on Linux"})`);
    return {
      refuses,
      holds,
      isWalled: false,
      around: 0,
      users: undefined,
      python,
      commandFor: (_, program) => program,
    };
  }

  const data_dir = withoutLinks(options.data_dir);
  const isSuperuser = process.geteuid?.() === 0;
  const plan = planUsers(options, data_dir, support);
  const own = plan && "range" in plan ? plan : undefined;
  const isWalled = hasWalls(mode, support);
  const users = own && createChildUsers(own, data_dir, runner, isWalled);
  const isBoxed = mode === "bwrap";
  const devices = isBoxed ? ["/dev"] : DEVICES;
  const { landlock } = support;
  const ruleFor = (path: string, right: Right): Rule => [path, rightsIn(landlock, right)];
  const rulesFor = (paths: string[], folder: Right, file: Right) =>
    paths.flatMap((path) => {
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats ? [ruleFor(path, stats.isDirectory() ? folder : file)] : [];
    });
  /** @param passesRights no rights of files keep the child from what others may not read */
  const wallsFor = (passesRights: boolean) => {
    const named = [...systemPaths(passesRights), ...options.read];
    const readable = named.flatMap((path) => withoutData(path, data_dir));
    const read = [...readable, process.execPath, runtime, join(runner, "dependencies")];
    const rules: Rule[] = [
      ...rulesFor(read, "read", "readFile"),
      ...rulesFor(options.write, "write", "device"),
      ...rulesFor(devices, "write", "device"),
      // In a namespace of its own a child sees no processes but its own, and no temporary files of others.
      ...(isBoxed ? rulesFor(["/proc"], "read", "read") : []),
      ...(isBoxed ? rulesFor(["/tmp"], "write", "write") : []),
      ruleFor("/proc/self", "read"),
    ];
    return { read, rules };
  };
  const all = wallsFor(isSuperuser);
  const withRights = users ? wallsFor(false) : all;
  const architecture = process.arch as Architecture;
  // In a namespace of its own a child does not even see the server, whose number may be that of another process.
  const guarded = isBoxed ? [] : landlock < SCOPED_SIGNALS ? ownThreads() : [process.pid];
  const spec: Omit<LaunchSpec, "rules" | "command"> = {
    numbers: SYSCALLS[architecture],
    ruleset: landlock > 0 ? rulesetOf(landlock, options.ports !== undefined) : undefined,
    ports: wallsOf(landlock).ports ? (options.ports ?? []).map(portRule) : [],
    filter: support.seccomp
      ? Buffer.from(
          filterOf({ architecture, landlock, guarded, hasPorts: options.ports !== undefined }),
        ).toString("base64")
      : undefined,
    capabilities: isSuperuser ? capabilitiesToDrop() : [],
    limits: [
      [CORE, 0],
      [OPEN_FILES, MAX_OPEN_FILES],
      ...(options.max_file_bytes > 0 ? [[FILE_SIZE, options.max_file_bytes] as [number, number]] : []),
    ],
  };
  const { max_processes } = options;
  const most_tasks = users
    ? TASKS_PER_PROCESS * max_processes + (max_processes > 0 ? OWN_SPARE_TASKS : SPARE_TASKS)
    : runningTasks() + options.max_children * TASKS_PER_CHILD + SPARE_TASKS;

  return {
    refuses: undefined,
    holds: whatHolds(support, options, plan),
    isWalled: isWalled || own?.leavesFilesOpen === false,
    around: isBoxed ? BWRAP_PROCESSES : 0,
    users,
    python,
    commandFor({ job, code, reach }, program, user) {
      const { read, rules: common } = user?.keeps.length === 0 ? withRights : all;
      const given = [code, ...(reach.read ?? [])];
      const write = reach.shared === undefined ? [job] : [job, reach.shared];
      const rules = [...common, ...given.map((path) => ruleFor(path, "read"))];
      rules.push(...write.map((path) => ruleFor(path, "write")));
      // All jobs of a flow that share a folder share their user.
      const tasks = users && reach.shared !== undefined ? JOBS_SHARING * most_tasks : most_tasks;
      const limits: LaunchSpec["limits"] = [...spec.limits, [PROCESSES, tasks]];
      const whole: LaunchSpec = { ...spec, limits, rules, command: program };
      if (user) whole.user = { uid: user.uid, gid: user.gid, groups: user.groups, keeps: user.keeps };
      const command = [process.execPath, "--no-install", launcher, JSON.stringify(whole)];
      if (!isBoxed) return command;
      const mounts = {
        read: [...read, ...given],
        write: [...write, ...options.write],
        home: job,
        isForOthers: user !== undefined,
      };
      return [support.bwrap!, ...bwrapArguments(mounts), ...command];
    },
  };
}

/** A path as it is named, unless the data directory is in it: then what is beside that. */
function withoutData(path: string, data_dir: string): string[] {
  const real = withoutLinks(path);
  return isWithin(data_dir, real) || isWithin(real, data_dir) ? around(real, data_dir) : [path];
}

/** Why no job may run with this choice; undefined when they may. */
export function whyRefused(mode: SandboxChoice["mode"], support: SandboxSupport): string | undefined {
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

/** Tasks of the whole machine (proc(5), loadavg). */
function runningTasks(): number {
  try {
    return Number(/\/(\d+)/.exec(readFileSync("/proc/loadavg", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** A signal to a thread is one to its process. */
function ownThreads(): number[] {
  return readdirSync("/proc/self/task").map(Number);
}
