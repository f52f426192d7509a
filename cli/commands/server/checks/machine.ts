/** Checks the machine: interpreters, sandboxing of scripts, and the limit of open files. */

import { dlopen, ptr } from "bun:ffi";
import { readFileSync } from "node:fs";
import { INSTALL_BASH, INSTALL_PIP, INSTALL_PYTHON } from "../../../../src/engines/languages/missing-tool.ts";
import { PROGRAMS } from "../../../../src/engines/languages/programs/table.ts";
import type { ProgramAdapter } from "../../../../src/engines/languages/programs/types.ts";
import { describeRootPlan, describeSandbox } from "../../../../src/engines/runner/sandbox/describe.ts";
import { findRefusalReason } from "../../../../src/engines/runner/sandbox/sandbox.ts";
import { detectSandboxSupport } from "../../../../src/engines/runner/sandbox/support.ts";
import { planUsers } from "../../../../src/engines/runner/sandbox/users/child-users.ts";
import type { Config } from "../../../../src/platform/config/config.ts";
import { parseSandboxSettings } from "../../../../src/server/sandbox-options.ts";
import { createFailFinding, createOkFinding, createWarnFinding, type Finding } from "./finding.ts";

const MIN_PYTHON_VERSION = [3, 8];
/** Pipes and channel of a script process, with a reserve. */
const FILES_PER_CHILD = 10;
const OWN_FILES = 256;

export function checkMachine(config: Config): Finding[] {
  return [
    createOkFinding("bun", `${Bun.version}, inside of this executable, runs TypeScript and JavaScript`),
    checkInterpreter("bash", /version (\S+)/, () => true, `${INSTALL_BASH}, or leave scripts in bash alone`),
    checkInterpreter(
      "python3",
      /Python (\S+)/,
      isNewEnough,
      `${INSTALL_PYTHON}, or leave scripts in it alone`,
    ),
    ...checkPip(),
    ...Object.entries(PROGRAMS).flatMap(checkProgram),
    ...checkContainment(config),
    checkOpenFiles(config),
  ];
}

function checkInterpreter(
  name: string,
  pattern: RegExp,
  suits: (version: string) => boolean,
  advice: string,
): Finding {
  const path = Bun.which(name);
  if (!path) return createWarnFinding(name, "is not installed", advice);
  const run = Bun.spawnSync([path, "--version"], { stdout: "pipe", stderr: "ignore" });
  const version = pattern.exec(run.stdout.toString())?.[1];
  if (!run.success || version === undefined)
    return createWarnFinding(name, `${path} does not tell its version`, advice);
  return suits(version)
    ? createOkFinding(name, `${version} (${path})`)
    : createWarnFinding(name, `${version} is too old (${path})`, advice);
}

/** Checks for what installs packages of Python scripts; nothing without Python. */
function checkPip(): Finding[] {
  const check = "Python packages";
  const python = Bun.which("python3");
  if (!python) return [];
  const uv = Bun.which("uv");
  if (uv) return [createOkFinding(check, `${uv} installs them`)];
  const run = Bun.spawnSync([python, "-m", "pip", "--version"], { stdout: "pipe", stderr: "ignore" });
  const version = /^pip (\S+)/.exec(run.stdout.toString())?.[1];
  if (run.success && version !== undefined) return [createOkFinding(check, `pip ${version} installs them`)];
  const advice = `${INSTALL_PIP}, or leave packages in python3 alone`;
  return [createWarnFinding(check, "neither uv nor pip is installed", advice)];
}

function checkProgram([language, { tool, install, packages }]: [string, ProgramAdapter]): Finding[] {
  const path = Bun.which(tool);
  if (!path)
    return [createWarnFinding(tool, "is not installed", `${install}, or leave scripts in ${language} alone`)];
  const found = createOkFinding(tool, `${path} runs scripts in ${language}`);
  if (!packages || packages.tool === tool || Bun.which(packages.tool)) return [found];
  const advice = `${packages.install}, or leave packages in ${language} alone`;
  return [found, createWarnFinding(packages.tool, "is not installed", advice)];
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return (
    major > MIN_PYTHON_VERSION[0]! || (major === MIN_PYTHON_VERSION[0] && minor >= MIN_PYTHON_VERSION[1]!)
  );
}

const PR_GET_CHILD_SUBREAPER = 37;

function checkContainment(config: Config): Finding[] {
  const advice = "run on Linux for production: elsewhere process groups have to do";
  if (process.platform !== "linux")
    return [
      createWarnFinding("containment", `${process.platform} can hold less in`, advice),
      checkSandbox(config),
    ];
  const libc = openLibc();
  if (!libc)
    return [
      createWarnFinding(
        "containment",
        "the C library could not be asked",
        "report it, with your distribution",
      ),
    ];
  const is = new Int32Array(1);
  const reaps = libc.prctl(PR_GET_CHILD_SUBREAPER, ptr(is), 0, 0, 0) === 0;
  return [
    reaps
      ? createOkFinding("process trees", "are found and ended as a whole (child subreaper)")
      : createFailFinding(
          "process trees",
          "this kernel knows no child subreaper",
          "use Linux 3.4 or newer, without such a filter",
        ),
    checkSandbox(config),
  ];
}

function checkSandbox(config: Config): Finding {
  const check = "sandbox";
  const support = detectSandboxSupport();
  const choice = parseSandboxSettings(config);
  if (choice.mode === "off")
    return createWarnFinding(check, "is off: scripts do what the server's user may", "unset SVC_SANDBOX");
  const refuses = findRefusalReason(choice.mode, support);
  const advice = "use Linux 5.13 or newer with lsm=landlock, in a container that lets it through";
  if (refuses !== undefined) return createFailFinding(check, `no job will run: ${refuses}`, advice);
  const plan = planUsers(choice, config.data_dir, support);
  const holds = `holds ${describeSandbox(support, choice, plan)}`;
  if (support.landlock === 0 && choice.mode !== "bwrap") {
    const isOpen = plan === undefined || "why" in plan || plan.leavesFilesOpen;
    return isOpen
      ? createWarnFinding(check, `scripts may read the server's files: ${support.missing}`, advice)
      : createWarnFinding(check, holds, advice);
  }
  if (plan && "why" in plan)
    return createWarnFinding(check, `${holds}; ${describeRootPlan(plan)}`, "run it as another user");
  return createOkFinding(check, holds);
}

function openLibc() {
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(name, {
        prctl: { args: ["i32", "ptr", "u64", "u64", "u64"], returns: "i32" },
      }).symbols;
    } catch {
      // Try the name of the other C library.
    }
  }
  return undefined;
}

function checkOpenFiles({ max_children, max_waiting_calls }: Config): Finding {
  const check = "open files";
  const limit = openFileLimit();
  if (limit === undefined) return createOkFinding(check, "the limit cannot be read on this platform");
  const wanted = OWN_FILES + max_children * FILES_PER_CHILD + max_waiting_calls;
  const advice = `raise it to ${wanted}: ulimit -n, or LimitNOFILE= of the systemd unit`;
  if (limit >= wanted)
    return createOkFinding(check, limit === Number.POSITIVE_INFINITY ? "no limit" : `up to ${limit}`);
  const says = `up to ${limit}: ${max_children} script processes and ${max_waiting_calls} callers may take more`;
  return limit < OWN_FILES + max_children * FILES_PER_CHILD
    ? createFailFinding(check, says, advice)
    : createWarnFinding(check, says, advice);
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
