/**
 * The pool of children. A child is started blank and ahead of need; the first job of a script version turns one into
 * that version, for one workspace, one identity and one caller, and it then takes the next jobs of that same key. One
 * job at a time; a child that died, timed out, was canceled or left something running is never used again.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeFolder } from "./files/remove-folder.ts";
import { type RuntimeFiles, writeRuntimeFiles } from "./files/runtime-files.ts";
import { makeShared, sharedFolder } from "./files/shared-folder.ts";
import { versionFiles } from "./files/version-files.ts";
import { createShortage, isShortage } from "./job/shortage.ts";
import { JobRun } from "./job-run.ts";
import { maxMessageBytes } from "./output/answer.ts";
import { createPackageStore, pythonOf } from "./packages/store.ts";
import { type ToolOutcome, type ToolRequest, ToolRun } from "./packages/tool-run.ts";
import { type Child, launch } from "./process/child.ts";
import { type Guard, startGuard } from "./process/guard.ts";
import { passedOn } from "./process/inherited-environment.ts";
import { endLeftovers } from "./process/orphan-processes.ts";
import { createSandbox, type Reach, type Sandbox } from "./sandbox/sandbox.ts";
import { whatRootDoes } from "./sandbox/summary.ts";
import { sandboxSupport } from "./sandbox/support.ts";
import { planUsers } from "./sandbox/users/child-users.ts";
import { createOwnFiles, type OwnFiles } from "./sandbox/users/own-files.ts";
import { withoutLinks } from "./sandbox/walls/paths.ts";
import { createRest } from "./sandbox/watch/idle-check.ts";
import type { Storing } from "./sandbox/watch/storage-watch.ts";
import { createWatch, type Watched } from "./sandbox/watch/watch.ts";
import type { Runner, RunnerOptions, RunOutcome, RunRequest } from "./types.ts";

const SWEEP_MS = 50;
/** Starting a process takes a moment of the server's thread: the job that took the blank child comes first. */
const REPLENISH_MS = 25;
const WEIGH_MS = 1_000;
const MB = 1024 * 1024;
/** Taken for granted until jobs have shown how long they are. */
const INITIAL_AVERAGE_MS = 40;

interface Waiting {
  request: RunRequest;
  signal: AbortSignal;
  resolve: (outcome: RunOutcome) => void;
  /** What an abort does: at first it leaves the line, then it stops what runs. */
  cancel: () => void;
}

/** Whether the key of a child agrees with everything that is asked for. */
function isOf(key: string, match: Parameters<Runner["retire"]>[0]): boolean {
  const [workspace_id, version_id, , email, started_by] = key.split("\n");
  return (
    (match.workspace_id ?? workspace_id) === workspace_id &&
    (match.version_id ?? version_id) === version_id &&
    (match.email === undefined || match.email === email || match.email === started_by)
  );
}

function refused(why: string): RunOutcome {
  const message = `no job runs on this server: ${why}`;
  return { kind: "failure", error: { name: "SandboxUnavailable", message } };
}

export function createRunner(options: RunnerOptions): Runner {
  const { directory, log } = options;
  const packages = createPackageStore({
    directory,
    registry: options.registry,
    index: options.pythonIndex,
    python: (version) => sandbox.python(version),
    runTool,
  });
  const files = versionFiles(directory, packages);
  const passed_on = passedOn(options.proxy_credentials);
  const idle = new Map<string, Child[]>();
  const blank: Child[] = [];
  const children = new Set<Child>();
  const running = new Set<JobRun>();
  const tools = new Set<Watched>();
  const waiting: Waiting[] = [];
  const shortage = createShortage(startAhead, log);
  let runtime: RuntimeFiles;
  let guard: Guard;
  let sandbox: Sandbox;
  let own: OwnFiles;
  const watch = createWatch(directory);
  const rest = createRest();
  let sweeper: ReturnType<typeof setInterval> | undefined;
  let stopped = false;
  let started_total = 0;
  let busy = 0;
  let averageMs = INITIAL_AVERAGE_MS;
  /** Milliseconds of `performance.now()`. */
  let lastBegan = 0;
  let weighedAt = 0;

  function start(reach: Reach = {}): Child {
    const max_message_bytes = maxMessageBytes(options.max_result_bytes);
    const launched = () =>
      launch({ runtime, directory, guard, sandbox, passed_on, reach, max_message_bytes });
    const child = own.restoring(launched);
    started_total++;
    children.add(child);
    return child;
  }

  /** A blank child, started ahead if there is one. Makes room by ending the child that was idle longest. */
  function takeBlank(shared: string | undefined, read: string[]): Child {
    if (children.size >= options.max_children) evictOldest();
    // Which folders a child reaches is settled when it is started.
    if (sandbox.isWalled && (shared !== undefined || read.length > 0)) {
      return start({ shared: shared && makeShared(directory, shared), read });
    }
    for (let child = blank.shift(); child; child = blank.shift()) if (!child.exited) return child;
    return start();
  }

  function replenish(): void {
    if (stopped) return;
    try {
      while (blank.length < options.blank_children && children.size < options.max_children) startAhead();
    } catch (cause) {
      if (isShortage(cause)) shortage.begin(cause);
      else log("warn", "no script process could be started ahead", { error: String(cause) });
    }
  }

  function startAhead(): void {
    if (children.size >= options.max_children) evictOldest();
    const child = start();
    child.onExit = () => {
      const at = blank.indexOf(child);
      if (at >= 0) blank.splice(at, 1);
      discard(child);
    };
    blank.push(child);
  }

  function evictOldest(): void {
    let oldest: Child | undefined;
    for (const list of idle.values()) {
      const first = list[0];
      if (first && (!oldest || first.idle_since < oldest.idle_since)) oldest = first;
    }
    if (oldest) discard(oldest);
  }

  function discard(child: Child): void {
    forget(child);
    child
      .destroy()
      .catch((cause) => log("warn", "a script process could not be ended", { error: String(cause) }));
  }

  function forget(child: Child): void {
    children.delete(child);
    const list = child.key === undefined ? undefined : idle.get(child.key);
    const at = list?.indexOf(child) ?? -1;
    if (list && at >= 0) list.splice(at, 1);
    if (list?.length === 0) idle.delete(child.key!);
  }

  function takeIdle(key: string): Child | undefined {
    const list = idle.get(key);
    for (let child = list?.pop(); child; child = list?.pop()) {
      if (!child.exited) return child;
    }
    idle.delete(key);
    return undefined;
  }

  function keep(child: Child): void {
    child.idle_since = performance.now();
    child.onMessage = undefined;
    child.onExit = () => discard(child);
    child.onDisconnect = () => discard(child);
    const list = idle.get(child.key!);
    if (list) list.push(child);
    else idle.set(child.key!, [child]);
  }

  /** Runs a program of the machine as a job would run, beside the jobs' slots. */
  async function runTool(request: ToolRequest): Promise<ToolOutcome> {
    const child = start({ read: request.read });
    const { limits, max_log_bytes } = options;
    const tool = new ToolRun({ request, child, limits, max_log_bytes });
    tools.add(tool);
    try {
      const outcome = await tool.run();
      if ("exit" in outcome && outcome.exit.code === 0) await request.collect?.(child.folder);
      return outcome;
    } finally {
      tools.delete(tool);
      children.delete(child);
      await child.destroy();
    }
  }

  function pump(): void {
    while (busy < options.concurrency && waiting.length > 0) begin(waiting.shift()!);
  }

  function begin(entry: Waiting): void {
    const { request, signal, resolve } = entry;
    if (signal.aborted) {
      resolve({ kind: "canceled" });
      return;
    }
    busy++;
    const began = performance.now();
    lastBegan = began;
    const { version } = request;
    const shared = sandbox.isWalled ? (request.shared ?? "") : "";
    const key = `${version.workspace_id}\n${version.id}\n${request.permissioned_as}\n${request.email}\n${request.started_by ?? ""}\n${request.variant ?? ""}\n${shared}`;
    const warm = version.isolation === "shared" ? takeIdle(key) : undefined;
    const job = new JobRun({
      request,
      options,
      key,
      runtime,
      files,
      python: (lock) => sandbox.python(pythonOf(lock)),
      takeBlank: (read) => {
        const child = takeBlank(request.shared, read);
        setTimeout(replenish, REPLENISH_MS);
        return child;
      },
      short: shortage.begin,
      finished: (outcome, child, reusable) => {
        busy--;
        averageMs += (performance.now() - began - averageMs) / 16;
        running.delete(job);
        if (child && !child.exited && reusable && !job.retired && !stopped) keep(child);
        else if (child) discard(child);
        resolve(outcome);
        pump();
      },
    });
    entry.cancel = () => job.stop({ kind: "canceled" });
    running.add(job);
    job.start(warm);
  }

  function sweep(): void {
    const now = performance.now();
    for (const job of running) job.checkDeadline(now);
    watch.look(now, [...running, ...tools], storingIdle());
    for (const list of idle.values()) {
      for (const child of [...list]) if (now - child.idle_since > options.idle_timeout_ms) discard(child);
    }
    if (now - weighedAt > WEIGH_MS) {
      weighIdle(now);
      own.restore();
    }
  }

  /** What a job has left in its process counts for the next one: a process that is half full goes, and one that works. */
  function weighIdle(now: number): void {
    weighedAt = now;
    const waiting = [...idle.values()].flat();
    const most = (options.limits.memory_mb * MB) / 2;
    const restless = new Set(
      rest.restless(
        waiting.map(({ pid }) => pid),
        now,
        most,
        sandbox.around,
      ),
    );
    for (const child of waiting) if (restless.has(child.pid)) discard(child);
  }

  /** What the jobs of a process have stored is its own for as long as it waits: a process that goes on storing goes. */
  function* storingIdle(): Generator<Storing> {
    const { limits } = options;
    for (const list of idle.values()) {
      for (const child of list) {
        yield { pid: child.pid, folders: [child.folder], limits, fail: () => discardIdle(child) };
      }
    }
  }

  /** Unless it was given a job in between. */
  function discardIdle(child: Child): void {
    if (child.key !== undefined && idle.get(child.key)?.includes(child)) discard(child);
  }

  /** Folders of children of a server before this one. Whatever a script has made of its own, the server starts. */
  async function removeLeftBehind(): Promise<void> {
    const folder = join(directory, "children");
    await removeFolder(folder).catch((cause) =>
      log("error", `${folder} holds what scripts have left and could not be removed: remove it by hand`, {
        error: String(cause),
      }),
    );
  }

  function retire(match: Parameters<Runner["retire"]>[0]): void {
    for (const list of [...idle.values()]) {
      for (const child of [...list]) if (isOf(child.key!, match)) discard(child);
    }
    for (const job of running) if (isOf(job.key, match)) job.retired = true;
  }

  return {
    async start() {
      const data_dir = dirname(directory);
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const support = sandboxSupport();
      const plan = planUsers(options.sandbox, data_dir, support);
      const range = plan && "range" in plan ? plan.range : undefined;
      own = createOwnFiles(data_dir, range?.first, options.onRestored);
      own.restore();
      await endLeftovers(withoutLinks(directory), range);
      await removeLeftBehind();
      for (const name of ["children", "dependencies", "shared"])
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
      if (plan) log("range" in plan ? "debug" : "warn", whatRootDoes(plan));
      if (sandbox.refuses) log("error", `no job will run: ${sandbox.refuses}`);
      else if (!sandbox.isWalled && options.sandbox.mode !== "off")
        log("warn", `scripts can read the server's files: ${sandbox.holds}`);
      guard = startGuard(runtime.watchdog, directory, log);
      sweeper = setInterval(sweep, SWEEP_MS);
      setTimeout(replenish);
    },
    run(request, signal) {
      if (stopped) return Promise.resolve({ kind: "released" });
      if (sandbox.refuses) return Promise.resolve(refused(sandbox.refuses));
      return new Promise((resolve) => {
        const abort = () => entry.cancel();
        const entry: Waiting = {
          request,
          signal,
          resolve(outcome) {
            signal.removeEventListener("abort", abort);
            resolve(outcome);
          },
          cancel() {
            waiting.splice(waiting.indexOf(entry), 1);
            resolve({ kind: "canceled" });
          },
        };
        signal.addEventListener("abort", abort, { once: true });
        waiting.push(entry);
        pump();
      });
    },
    forgetShared(name) {
      for (const list of [...idle.values()]) {
        for (const child of [...list]) if (child.shared === name) discard(child);
      }
      const shared = sharedFolder(directory, name);
      removeFolder(shared)
        .then(() => sandbox.users?.forget(shared))
        .catch((cause) =>
          log("warn", "a folder that jobs shared could not be removed", { error: String(cause) }),
        );
    },
    prepare: (version) => files.ensure(version),
    lockPackages: packages.lock,
    free: () => Math.max(0, options.concurrency - busy - waiting.length),
    retire,
    forget(workspace_id) {
      retire({ workspace_id });
      return files.forget(workspace_id);
    },
    prune(before) {
      return files.prune(before.getTime(), (workspace_id, version_id) =>
        [...children].some((child) => child.key?.startsWith(`${workspace_id}\n${version_id}\n`)),
      );
    },
    mask(job_id, secret) {
      for (const job of running) {
        if (job.job_id !== job_id) continue;
        job.mask(secret);
        return true;
      }
      return false;
    },
    shortage: shortage.why,
    busyFor(ms) {
      const before = performance.now() - ms;
      return [...running].flatMap((job) => (job.since < before ? [job.job_id] : []));
    },
    holds: () => sandbox.holds,
    averageMs: () => averageMs,
    stalledMs: () => (busy < options.concurrency ? 0 : performance.now() - lastBegan),
    waiting: () => waiting.flatMap(({ request }) => (request.shared === undefined ? [request.job_id] : [])),
    spare: () => guard.spare(),
    stats() {
      let warm = 0;
      for (const list of idle.values()) warm += list.length;
      return { running: busy, idle: warm, blank: blank.length, started_total };
    },
    async stop() {
      if (stopped) return;
      stopped = true;
      clearInterval(sweeper);
      shortage.stop();
      for (const { resolve } of waiting.splice(0)) resolve({ kind: "released" });
      for (const job of [...running]) job.stop({ kind: "released" });
      packages.stop();
      own.restore();
      await Promise.all([...children].map((child) => child.destroy()));
      await guard.sweep();
      await guard.stop();
      // Nobody looks from here on, and the next start needs its executable.
      own.restore();
    },
  };
}
