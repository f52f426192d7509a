/**
 * Runs jobs in children. A child is started blank and in advance. The first job of a script version assigns it to
 * that version, one workspace, one identity and one caller (its key); it then runs further jobs with the same key. It
 * runs one job at a time (`dispatcher.ts`). A child that died, timed out, was canceled or left something running is
 * never used again.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createChildPool } from "./child-pool.ts";
import { createDispatcher } from "./dispatcher.ts";
import { removeFolder } from "./files/remove-folder.ts";
import { type RuntimeFiles, writeRuntimeFiles } from "./files/runtime-files.ts";
import { getSharedFolderPath } from "./files/shared-folder.ts";
import { createVersionFiles } from "./files/version-files.ts";
import { createRefusedOutcome } from "./job/outcomes.ts";
import { computeMaxMessageBytes } from "./output/validate-answer.ts";
import { createPackageStore } from "./packages/package-store.ts";
import type { ToolOutcome, ToolRequest } from "./packages/tool.ts";
import { createToolSlots } from "./packages/tool-slots.ts";
import { launchChild } from "./process/child.ts";
import { type Guard, startGuard } from "./process/guard.ts";
import { readInheritedEnvironment } from "./process/inherited-environment.ts";
import { turnIntoPython } from "./process/interpreter.ts";
import { killOrphans } from "./process/orphan-processes.ts";
import { ToolRun } from "./process/tool-run.ts";
import { lockProgramPackages } from "./programs/build.ts";
import { compileScript } from "./programs/compile.ts";
import { createProgramInstaller } from "./programs/install.ts";
import { findInterpreter } from "./programs/interpreter.ts";
import { describeRootPlan } from "./sandbox/describe.ts";
import { resolveLinks } from "./sandbox/isolation/paths.ts";
import { createSandbox, type Sandbox } from "./sandbox/sandbox.ts";
import { detectSandboxSupport } from "./sandbox/support.ts";
import { planUsers } from "./sandbox/users/child-users.ts";
import { createModeGuard, type ModeGuard } from "./sandbox/users/mode-guard.ts";
import { createResourceWatch, type WatchedJob } from "./sandbox/watch/resource-watch.ts";
import type { Runner, RunnerOptions } from "./types.ts";

const SWEEP_INTERVAL_MS = 50;
/** Delay before the first children are started, so that the server itself starts first. */
const FIRST_CHILDREN_DELAY_MS = 100;
const IDLE_CHECK_INTERVAL_MS = 1_000;
const MB = 1024 * 1024;

export function createRunner(options: RunnerOptions): Runner {
  const { directory, log } = options;
  const turns = createToolSlots(options.builds);
  const packages = createPackageStore({
    directory,
    registry: options.registry,
    index: options.pythonIndex,
    python: (version) => sandbox.python(version),
    lockProgram: (wanted, how) => lockProgramPackages(wanted, runTool, how),
    installFolder: createProgramInstaller(join(directory, "dependencies"), (request) => runTool(request)),
    runTool,
    limits: options.limits,
    watch(program) {
      tools.add(program);
      return () => tools.delete(program);
    },
    turns,
  });
  const files = createVersionFiles(directory, packages, (version, signal) =>
    compileScript(version, runtime.wrappers, runTool, signal),
  );
  const passed_on = readInheritedEnvironment(options.proxy_credentials);
  const tools = new Set<WatchedJob>();
  let runtime: RuntimeFiles;
  let guard: Guard;
  let sandbox: Sandbox;
  let own: ModeGuard;
  const watch = createResourceWatch(directory);
  let sweeper: ReturnType<typeof setInterval> | undefined;
  let stopped = false;
  let weighedAt = 0;

  const pool = createChildPool({
    options,
    isWalled: () => sandbox.confinesFiles,
    turnIntoPython: (child, program) => turnIntoPython(child, program, runtime),
    launch(reach) {
      const max_message_bytes = computeMaxMessageBytes(options.max_result_bytes);
      return own.retryAfterRestore(() =>
        launchChild({
          runtime,
          directory,
          guard,
          sandbox,
          inherited_environment: passed_on,
          reach,
          max_message_bytes,
        }),
      );
    },
  });

  // Before the start it runs nothing but can be called: some commands change versions without ever running jobs.
  const dispatcher = createDispatcher({
    options,
    pool,
    files,
    runtime: () => runtime,
    sandbox: () => sandbox,
  });

  /** Runs a program of the machine like a job, but without using a job slot. */
  async function runTool(request: ToolRequest): Promise<ToolOutcome> {
    const { kind, owner, name, signal } = request;
    const outcome = await turns.run(
      kind,
      owner,
      async () => (stopped ? undefined : startTool(request)),
      signal,
    );
    return outcome ?? { stopped: { name: "Canceled", message: `${name} was not started` } };
  }

  async function startTool(request: ToolRequest): Promise<ToolOutcome> {
    const child = pool.start({ read: request.read });
    const { limits, max_log_bytes } = options;
    const tool = new ToolRun({ request, child, limits, max_log_bytes });
    tools.add(tool);
    try {
      const outcome = await tool.run();
      if ("exit" in outcome && outcome.exit.code === 0) await request.collect?.(child.folder);
      return outcome;
    } finally {
      tools.delete(tool);
      await pool.remove(child);
    }
  }

  function sweep(): void {
    const now = performance.now();
    dispatcher.checkTimes(now);
    watch.look(now, [...dispatcher.running.values(), ...tools], pool.storing());
    pool.endOld(now);
    if (now - weighedAt > IDLE_CHECK_INTERVAL_MS) {
      weighedAt = now;
      pool.endBusyIdle(now, sandbox.wrapperProcesses);
      own.restore();
    }
  }

  /** Removes the folders of a previous server's children. The server starts even if that fails. */
  async function removeLeftBehind(): Promise<void> {
    const folder = join(directory, "children");
    await removeFolder(folder).catch((cause) =>
      log("error", `${folder} holds what scripts have left and could not be removed: remove it by hand`, {
        error: String(cause),
      }),
    );
  }

  return {
    async start() {
      const data_dir = dirname(directory);
      const isNew = mkdirSync(directory, { recursive: true, mode: 0o700 }) !== undefined;
      const support = detectSandboxSupport();
      const plan = planUsers(options.sandbox, data_dir, support);
      const range = plan && "range" in plan ? plan.range : undefined;
      own = createModeGuard(data_dir, range?.first, options.onRestored);
      own.restore();
      // A server before it may have had the same user ids.
      if (!isNew || range) await killOrphans(resolveLinks(directory), range);
      await removeLeftBehind();
      for (const name of ["cache", "children", "dependencies", "install", "shared"])
        mkdirSync(join(directory, name), { recursive: true, mode: 0o700 });
      runtime = writeRuntimeFiles(directory);
      own.restore();
      sandbox = createSandbox(
        {
          ...options.sandbox,
          max_file_bytes: options.limits.disk_mb * MB,
          max_children: options.max_children,
          max_processes: options.limits.processes,
          data_dir,
        },
        runtime.launcher,
        directory,
        runtime.directory,
        support,
      );
      if (plan) log("range" in plan ? "debug" : "warn", describeRootPlan(plan));
      if (sandbox.refusal) log("error", `no job will run: ${sandbox.refusal}`);
      else if (!sandbox.confinesFiles && options.sandbox.mode !== "off")
        log("warn", `scripts can read the server's files: ${sandbox.summary}`);
      guard = startGuard(runtime.watchdog, directory, log);
      sweeper = setInterval(sweep, SWEEP_INTERVAL_MS);
      setTimeout(pool.replenish, FIRST_CHILDREN_DELAY_MS);
    },
    run(request, stop) {
      if (sandbox.refusal) return Promise.resolve(createRefusedOutcome(sandbox.refusal));
      return dispatcher.run(request, stop);
    },
    removeShared(name) {
      pool.retireSharing(name);
      const shared = getSharedFolderPath(directory, name);
      removeFolder(shared)
        .then(() => sandbox.users?.releaseShared(shared))
        .catch((cause) =>
          log("warn", "a folder that jobs shared could not be removed", { error: String(cause) }),
        );
    },
    async prepare(version) {
      const python = version.language === "python3" && (await findInterpreter(version, sandbox));
      if (python) pool.usePython(python);
      await files.ensure(version);
    },
    lockPackages: packages.lock,
    freeSlots: () => dispatcher.freeSlots(),
    retire: (match) => dispatcher.retire(match),
    removeWorkspaceFiles(workspace_id) {
      dispatcher.retire({ workspace_id });
      return files.removeWorkspace(workspace_id);
    },
    prune(before) {
      return files.prune(before.getTime(), pool.hasVersion);
    },
    maskSecret: (job_id, secret) => dispatcher.maskSecret(job_id, secret),
    shortageReason: pool.shortage.reason,
    jobsBusyFor(ms) {
      const before = performance.now() - ms;
      return dispatcher.running.values().flatMap((job) => (job.since < before ? [job.job_id] : []));
    },
    sandboxSummary: () => sandbox.summary,
    averageMs: () => dispatcher.averageMs(),
    stalledMs: () => dispatcher.stalledMs(),
    waitingJobs: () => dispatcher.waitingJobs(),
    exemptOtherProcesses: () => guard.exemptOtherProcesses(),
    stats: () => ({ running: dispatcher.running.size, ...pool.stats() }),
    async stop() {
      if (stopped) return;
      stopped = true;
      clearInterval(sweeper);
      pool.close();
      dispatcher.stop();
      packages.stop();
      own.restore();
      await pool.destroy();
      await guard.sweep();
      await guard.stop();
      // No checks run from here on; the next start needs the executable.
      own.restore();
    },
  };
}
