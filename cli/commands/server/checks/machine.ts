/** The machine: what scripts are run by, what holds them in, and how many files may be open. */
import { dlopen, ptr } from "bun:ffi";
import { readFileSync } from "node:fs";
import { whyRefused } from "../../../../src/engines/runner/sandbox/sandbox.ts";
import { whatHolds, whatRootDoes } from "../../../../src/engines/runner/sandbox/summary.ts";
import { sandboxSupport } from "../../../../src/engines/runner/sandbox/support.ts";
import { planUsers } from "../../../../src/engines/runner/sandbox/users/child-users.ts";
import type { Config } from "../../../../src/platform/config/config.ts";
import { sandboxOf } from "../../../../src/server/sandbox-options.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const OLDEST_PYTHON = [3, 8];
/** A child's pipes and its channel, with some to spare. */
const FILES_PER_CHILD = 10;
const OWN_FILES = 256;

export function checkMachine(config: Config): Finding[] {
  return [
    ok("bun", `${Bun.version}, inside of this executable, runs TypeScript and JavaScript`),
    ofInterpreter("bash", /version (\S+)/, () => true, "install bash, or leave scripts in bash alone"),
    ofInterpreter(
      "python3",
      /Python (\S+)/,
      isNewEnough,
      "install Python 3.8 or newer, or leave scripts in it alone",
    ),
    ...checkContainment(config),
    checkOpenFiles(config),
  ];
}

function ofInterpreter(
  name: string,
  pattern: RegExp,
  suits: (version: string) => boolean,
  advice: string,
): Finding {
  const path = Bun.which(name);
  if (!path) return warn(name, "is not installed", advice);
  const run = Bun.spawnSync([path, "--version"], { stdout: "pipe", stderr: "ignore" });
  const version = pattern.exec(run.stdout.toString())?.[1];
  if (!run.success || version === undefined) return warn(name, `${path} does not tell its version`, advice);
  return suits(version)
    ? ok(name, `${version} (${path})`)
    : warn(name, `${version} is too old (${path})`, advice);
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > OLDEST_PYTHON[0]! || (major === OLDEST_PYTHON[0] && minor >= OLDEST_PYTHON[1]!);
}

const PR_GET_CHILD_SUBREAPER = 37;

function checkContainment(config: Config): Finding[] {
  const advice = "run on Linux for production: elsewhere process groups have to do";
  if (process.platform !== "linux")
    return [warn("containment", `${process.platform} can hold less in`, advice), checkSandbox(config)];
  const libc = openLibc();
  if (!libc)
    return [warn("containment", "the C library could not be asked", "report it, with your distribution")];
  const is = new Int32Array(1);
  const reaps = libc.prctl(PR_GET_CHILD_SUBREAPER, ptr(is), 0, 0, 0) === 0;
  return [
    reaps
      ? ok("process trees", "are found and ended as a whole (child subreaper)")
      : fail(
          "process trees",
          "this kernel knows no child subreaper",
          "use Linux 3.4 or newer, without such a filter",
        ),
    checkSandbox(config),
  ];
}

function checkSandbox(config: Config): Finding {
  const check = "sandbox";
  const support = sandboxSupport();
  const choice = sandboxOf(config);
  if (choice.mode === "off")
    return warn(check, "is off: scripts do what the server's user may", "unset SVC_SANDBOX");
  const refuses = whyRefused(choice.mode, support);
  const advice = "use Linux 5.13 or newer with lsm=landlock, in a container that lets it through";
  if (refuses !== undefined) return fail(check, `no job will run: ${refuses}`, advice);
  const plan = planUsers(choice, config.data_dir, support);
  const holds = `holds ${whatHolds(support, choice, plan)}`;
  if (support.landlock === 0 && choice.mode !== "bwrap") {
    const isOpen = plan === undefined || "why" in plan || plan.leavesFilesOpen;
    return isOpen
      ? warn(check, `scripts may read the server's files: ${support.missing}`, advice)
      : warn(check, holds, advice);
  }
  if (plan && "why" in plan) return warn(check, `${holds}; ${whatRootDoes(plan)}`, "run it as another user");
  return ok(check, holds);
}

function openLibc() {
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(name, {
        prctl: { args: ["i32", "ptr", "u64", "u64", "u64"], returns: "i32" },
      }).symbols;
    } catch {
      // The other C library's name.
    }
  }
  return undefined;
}

function checkOpenFiles({ max_children, max_waiting_calls }: Config): Finding {
  const check = "open files";
  const limit = openFileLimit();
  if (limit === undefined) return ok(check, "the limit cannot be read on this platform");
  const wanted = OWN_FILES + max_children * FILES_PER_CHILD + max_waiting_calls;
  const advice = `raise it to ${wanted}: ulimit -n, or LimitNOFILE= of the systemd unit`;
  if (limit >= wanted) return ok(check, limit === Number.POSITIVE_INFINITY ? "no limit" : `up to ${limit}`);
  const says = `up to ${limit}: ${max_children} script processes and ${max_waiting_calls} callers may take more`;
  return limit < OWN_FILES + max_children * FILES_PER_CHILD
    ? fail(check, says, advice)
    : warn(check, says, advice);
}

function openFileLimit(): number | undefined {
  try {
    const soft = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    if (soft === undefined) return undefined;
    return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return undefined;
  }
}
