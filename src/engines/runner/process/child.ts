/** A child process as the runner sees it: starts blank, becomes one script version, and runs one job at a time. */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { waitAtMost } from "../../../lib/async/sleep.ts";
import { removeFolder } from "../files/remove-folder.ts";
import type { RuntimeFiles } from "../files/runtime-files.ts";
import { ChildOutput } from "../output/child-output.ts";
import { CHANNEL_ENVIRONMENT, type FromChild, type Load, type ToChild } from "../protocol.ts";
import type { FolderAccess } from "../sandbox/child-folders.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { ChildUser } from "../sandbox/users/child-users.ts";
import type { ChildExit, ChildTokens, JobError } from "../types.ts";
import { type ChildChannel, openChannel } from "./channel.ts";
import type { Guard } from "./guard.ts";
import { RunPace } from "./run-pace.ts";

export interface Child {
  readonly pid: number;
  /** Home folder, which it may write. */
  readonly folder: string;
  /** Folder with its source, which it may only read. */
  readonly code: string;
  /** Environment independent of jobs: home and system variables. */
  readonly base_environment: Record<string, string>;
  /** Its own user id; undefined: the server's. */
  readonly uid: number | undefined;
  readonly output: ChildOutput;
  /** Its workspace, version and identity; undefined while blank. */
  key: string | undefined;
  /** Resolves when it has become its script's interpreter; undefined if it was not asked to. */
  interpreter: Promise<void> | undefined;
  tokens: ChildTokens | undefined;
  /** Token of the last job sent to it. */
  token: string;
  /** Contextual variables of the last job sent to it. */
  environment: Record<string, string>;
  /** Number of jobs sent to it. */
  runs_sent: number;
  /** Number of recalls sent to it. */
  recalls_sent: number;
  readonly pace: RunPace;
  /** Name of the folder at `./shared`, if any. */
  shared: string | undefined;
  idle_since: number;
  /** Number of child processes that were started ahead for its next job. */
  waiting_with_it: number;
  /** Set by the code that awaits the next message. */
  onMessage: ((message: FromChild) => void) | undefined;
  onExit: ((exit: ChildExit) => void) | undefined;
  /**
   * Called when the channel is closed by the script or after a protocol violation: no more messages in either
   * direction.
   */
  onDisconnect: ((problem: string | undefined) => void) | undefined;
  readonly exited: ChildExit | undefined;
  /** Whether it has exited and all that it sent and printed has been read. */
  readonly isDrained: boolean;
  /** Whether it has neither exited nor closed its channel, as far as is known. */
  readonly isUsable: boolean;
  send(message: ToChild): void;
  /** Sends a short message in this turn of the event loop, together with others. */
  sendLater(message: ToChild): void;
  /** Kills it with all its descendants and removes its folder. */
  destroy(): Promise<void>;
}

export interface LaunchOptions {
  runtime: RuntimeFiles;
  directory: string;
  guard: Guard;
  sandbox: Sandbox;
  /** Inherited part of the server's environment. */
  inherited_environment: Record<string, string>;
  /** Folders it may access beside its own. */
  reach?: FolderAccess;
  /** Maximum size of one message from the child. */
  max_message_bytes: number;
}

/** Time to wait for the pipes of an ended child, in case another process holds them open. */
const PIPE_DRAIN_TIMEOUT_MS = 1_000;

/**
 * This executable is the runtime of its children. The transpiler cache is disabled, because it would disappear with the
 * child's folder.
 */
const RUNTIME_ENVIRONMENT = { BUN_BE_BUN: "1", BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" };

/**
 * Starts a blank child. All user code runs in processes started here.
 * @throws if the system refuses to start a process
 */
export function launchChild(options: LaunchOptions): Child {
  const { runtime, directory, guard, sandbox, reach = {} } = options;
  const place = join(directory, "children", randomBytes(8).toString("hex"));
  const folder = join(place, "job");
  const code = join(place, "code");
  for (const path of [folder, code]) mkdirSync(path, { recursive: true, mode: 0o700 });
  const folders = { job: folder, code, access: reach };
  let user: ChildUser | undefined;
  const output = new ChildOutput();
  let exited: ChildExit | undefined;
  let isDisconnected = false;
  let isDrained = false;
  let announceClosed!: () => void;
  const closed = new Promise<void>((resolve) => {
    announceClosed = resolve;
  });

  // Defined before the spawn: if the system cannot report the exit, Bun calls `onExit` immediately.
  const child: Child = {
    get pid() {
      return subprocess.pid;
    },
    folder,
    code,
    get base_environment() {
      // An own user id has no system account, so the name is set explicitly.
      const named: Record<string, string> = user ? { USER: "svc", LOGNAME: "svc" } : {};
      return { ...options.inherited_environment, HOME: folder, TMPDIR: folder, ...named };
    },
    get uid() {
      return user?.uid;
    },
    output,
    key: undefined,
    interpreter: undefined,
    tokens: undefined,
    token: "",
    environment: {},
    runs_sent: 0,
    recalls_sent: 0,
    pace: new RunPace(),
    shared: undefined,
    idle_since: 0,
    waiting_with_it: 0,
    onMessage: undefined,
    onExit: undefined,
    onDisconnect: undefined,
    get exited() {
      return exited;
    },
    get isDrained() {
      return isDrained;
    },
    get isUsable() {
      return !exited && !isDisconnected;
    },
    send(message) {
      channel.send(message);
    },
    sendLater(message) {
      channel.sendLater(message);
    },
    async destroy() {
      child.tokens?.endAll();
      if (!exited) {
        await guard.kill(subprocess.pid);
        await subprocess.exited;
      }
      await removeFolder(place);
      user?.release();
      user = undefined;
    },
  };

  const program = [process.execPath, "--no-install", runtime.typescript];
  let subprocess: Subprocess<"ignore", "pipe", "pipe">;
  let channel: ChildChannel;
  try {
    guard.watch();
    user = sandbox.users?.acquire(folders);
    subprocess = Bun.spawn(sandbox.commandFor(folders, program, user), {
      cwd: folder,
      env: { ...child.base_environment, ...CHANNEL_ENVIRONMENT, ...RUNTIME_ENVIRONMENT },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      detached: true,
      onExit: ({ pid }, code, signal) => {
        exited = { code, signal: signal === null ? null : signalName(signal) };
        guard.remove(pid);
        child.tokens?.endAll();
        // Its last output is still in the pipes; strays that hold them open are killed first.
        void guard.sweep().then(async () => {
          await waitAtMost(PIPE_DRAIN_TIMEOUT_MS, closed);
          channel.close();
          isDrained = true;
          child.onExit?.(exited!);
        });
      },
    });
  } catch (cause) {
    // Without free descriptors this fails too; the original error matters.
    void removeFolder(place).catch(() => {});
    user?.release();
    throw cause;
  }
  channel = openChannel({
    descriptor: subprocess.stdio[3] as unknown as number,
    max_bytes: options.max_message_bytes,
    onMessage: (message) => child.onMessage?.(message),
    onClose(problem) {
      isDisconnected = true;
      child.onDisconnect?.(problem);
    },
  });
  if (!exited) guard.add(subprocess.pid);
  const pipes = [
    readPipe(subprocess.stdout, 1, output),
    readPipe(subprocess.stderr, 2, output),
    channel.closed,
  ];
  void Promise.allSettled(pipes).then(announceClosed);
  return child;
}

async function readPipe(stream: ReadableStream<Uint8Array>, fd: 1 | 2, output: ChildOutput): Promise<void> {
  for await (const bytes of stream as unknown as AsyncIterable<Uint8Array>) output.push(fd, bytes);
}

function signalName(signal: number | string): string {
  if (typeof signal === "string") return signal;
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`;
}

/** Resolves with the next message of one of these kinds; rejects if the child ends first. */
export function awaitMessage<T extends FromChild["t"]>(
  child: Child,
  ...kinds: T[]
): Promise<Extract<FromChild, { t: T }>> {
  return new Promise((resolve, reject) => {
    if (child.exited) reject(new ChildEnded(child.exited));
    child.onMessage = (message) => {
      if ((kinds as string[]).includes(message.t)) resolve(message as Extract<FromChild, { t: T }>);
    };
    child.onExit = (exit) => reject(new ChildEnded(exit));
    // Waits a moment, because an exiting process closes its channel first, and its exit status says more.
    child.onDisconnect = (problem) =>
      setTimeout(
        () => reject(new LoadFault({ name: "ExecutionErr", message: describeLostChannel(problem) })),
        EXIT_GRACE_MS,
      );
  });
}

/** Timeout of end marks, in case the script closed its own stdout or stderr. */
const END_MARK_TIMEOUT_MS = 1_000;

/** Calls back when everything in these pipes (1 = stdout, 2 = stderr, 3 = both) has been read, or after a timeout. */
export function callWhenOutputRead(child: Child, pipes: number, then: () => void): void {
  const end = () => {
    clearTimeout(timer);
    then();
  };
  const timer = setTimeout(end, END_MARK_TIMEOUT_MS);
  child.onExit = end;
  child.output.whenFenced(pipes, end);
}

/** Time for a process without a channel to turn out to have exited. */
export const EXIT_GRACE_MS = 500;

/** Describes a lost channel in a job's error. @param problem the protocol violation, if any */
export function describeLostChannel(
  problem = "closed its connection to the server before it returned",
): string {
  return `the script's process ${problem}`;
}

/** The child exited before it answered. */
export class ChildEnded extends Error {
  readonly exit: ChildExit;
  constructor(exit: ChildExit) {
    super("the process ended");
    this.exit = exit;
  }
}

/** A script could not be loaded; its job fails with this error. */
export class LoadFault extends Error {
  readonly error: JobError;
  constructor(error: JobError) {
    super(error.message);
    this.error = error;
  }
}

/** Loads a version into a blank child. @throws LoadFault, ChildEnded */
export async function loadVersion(child: Child, load: Omit<Load, "t" | "nonce">): Promise<void> {
  const nonce = randomBytes(16).toString("hex");
  child.output.nonce = nonce;
  await child.interpreter;
  const loaded = awaitMessage(child, "loaded", "load_failed");
  child.send({ t: "load", nonce, ...load });
  const answer = await loaded;
  if (answer.t === "load_failed") throw new LoadFault(answer.error);
}
