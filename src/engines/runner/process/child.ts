/** One child as the pool sees it: a process that is blank, becomes one script version, and runs one job at a time. */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { removeFolder } from "../files/remove-folder.ts";
import type { RuntimeFiles } from "../files/runtime-files.ts";
import { ChildOutput } from "../output/output.ts";
import type { Exec, FromChild, Load, ToChild } from "../protocol.ts";
import type { Reach } from "../sandbox/child-folders.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { ChildUser } from "../sandbox/users/child-users.ts";
import type { ChildExit, ChildTokens, JobError } from "../types.ts";
import { CHANNEL_ENVIRONMENT, type Channel, openChannel } from "./channel.ts";
import type { Guard } from "./guard.ts";

export interface Child {
  readonly pid: number;
  /** Where it is at home: what it writes stands here. */
  readonly folder: string;
  /** Where its source is put, which it may only read. */
  readonly code: string;
  /** Where it is at home, and what it knows of the machine. */
  readonly base: Record<string, string>;
  /** The user id of its own that it runs under; undefined: it is the server's. */
  readonly uid: number | undefined;
  readonly output: ChildOutput;
  /** What it became: workspace, version and identity; undefined while blank. */
  key: string | undefined;
  tokens: ChildTokens | undefined;
  /** Of the job that it runs, or ran last. */
  token: string;
  /** Contextual variables it was last given. */
  environment: Record<string, string>;
  /** Name of the folder at `./shared`, if there is one. */
  shared: string | undefined;
  idle_since: number;
  /** Set by whoever waits for the next message. */
  onMessage: ((message: FromChild) => void) | undefined;
  onExit: ((exit: ChildExit) => void) | undefined;
  /**
   * The channel is closed, by the script or for what it sent: the child can neither be told nor tell anything any more.
   */
  onDisconnect: ((problem: string | undefined) => void) | undefined;
  readonly exited: ChildExit | undefined;
  send(message: ToChild): void;
  /** Ends it with everything below it, and removes its folder. */
  destroy(): Promise<void>;
}

export interface LaunchOptions {
  runtime: RuntimeFiles;
  directory: string;
  guard: Guard;
  sandbox: Sandbox;
  /** What of the server's environment it has. */
  passed_on: Record<string, string>;
  /** What it is let at beside its own folders. */
  reach?: Reach;
  /** Most bytes of one message of the child. */
  max_message_bytes: number;
}

/** How long the pipes of an ended child are waited for, should somebody hold them open. */
const DRAIN_MS = 1_000;

/** This executable is the runtime of its children; what it would keep of their code in their folder goes with them. */
const RUNTIME_ENVIRONMENT = { BUN_BE_BUN: "1", BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" };

/**
 * Starts a blank child. Everything that runs user code is started here and nowhere else.
 * @throws when the system refuses to start a process
 */
export function launch(options: LaunchOptions): Child {
  const { runtime, directory, guard, sandbox, reach = {} } = options;
  const place = join(directory, "children", randomBytes(8).toString("hex"));
  const folder = join(place, "job");
  const code = join(place, "code");
  for (const path of [folder, code]) mkdirSync(path, { recursive: true, mode: 0o700 });
  const folders = { job: folder, code, reach };
  let user: ChildUser | undefined;
  const output = new ChildOutput();
  let exited: ChildExit | undefined;
  let announceClosed!: () => void;
  const closed = new Promise<void>((resolve) => {
    announceClosed = resolve;
  });

  // Complete before there is a process: where the system refuses to tell of its end, Bun says at once that it has ended.
  const child: Child = {
    get pid() {
      return subprocess.pid;
    },
    folder,
    code,
    get base() {
      // What a child is called is told only where it runs under an id of its own, which the system has no name for.
      const named: Record<string, string> = user ? { USER: "svc", LOGNAME: "svc" } : {};
      return { ...options.passed_on, HOME: folder, TMPDIR: folder, ...named };
    },
    get uid() {
      return user?.uid;
    },
    output,
    key: undefined,
    tokens: undefined,
    token: "",
    environment: {},
    shared: undefined,
    idle_since: 0,
    onMessage: undefined,
    onExit: undefined,
    onDisconnect: undefined,
    get exited() {
      return exited;
    },
    send(message) {
      channel.send(message);
    },
    async destroy() {
      child.tokens?.end();
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
  let channel: Channel;
  try {
    user = sandbox.users?.take(folders);
    subprocess = Bun.spawn(sandbox.commandFor(folders, program, user), {
      cwd: folder,
      env: { ...child.base, ...CHANNEL_ENVIRONMENT, ...RUNTIME_ENVIRONMENT },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      detached: true,
      onExit: ({ pid }, code, signal) => {
        exited = { code, signal: signal === null ? null : nameOfSignal(signal) };
        guard.remove(pid);
        child.tokens?.end();
        // What it wrote before it ended is still in the pipes; strays that hold them open are ended first.
        void guard.sweep().then(async () => {
          await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, DRAIN_MS))]);
          channel.close();
          child.onExit?.(exited!);
        });
      },
    });
  } catch (cause) {
    // Where there are no descriptors left, this fails as well: what counts is why there is no process.
    void removeFolder(place).catch(() => {});
    user?.release();
    throw cause;
  }
  channel = openChannel({
    descriptor: subprocess.stdio[3] as unknown as number,
    max_bytes: options.max_message_bytes,
    onMessage: (message) => child.onMessage?.(message),
    onClose: (problem) => child.onDisconnect?.(problem),
  });
  if (!exited) guard.add(subprocess.pid);
  const pipes = [pump(subprocess.stdout, 1, output), pump(subprocess.stderr, 2, output), channel.closed];
  void Promise.allSettled(pipes).then(announceClosed);
  return child;
}

async function pump(stream: ReadableStream<Uint8Array>, fd: 1 | 2, output: ChildOutput): Promise<void> {
  for await (const bytes of stream as unknown as AsyncIterable<Uint8Array>) output.push(fd, bytes);
}

function nameOfSignal(signal: number | string): string {
  if (typeof signal === "string") return signal;
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`;
}

/** Resolves with the next message of one of these kinds; rejects when the child ends first. */
export function nextMessage<T extends FromChild["t"]>(
  child: Child,
  ...kinds: T[]
): Promise<Extract<FromChild, { t: T }>> {
  return new Promise((resolve, reject) => {
    if (child.exited) reject(new ChildEnded(child.exited));
    child.onMessage = (message) => {
      if ((kinds as string[]).includes(message.t)) resolve(message as Extract<FromChild, { t: T }>);
    };
    child.onExit = (exit) => reject(new ChildEnded(exit));
    // A process that ends loses its channel first: how it ended says more.
    child.onDisconnect = (problem) =>
      setTimeout(
        () => reject(new LoadFault({ name: "ExecutionErr", message: lostChannel(problem) })),
        CHANNEL_MS,
      );
  });
}

/** End marks that do not come: the script closed its own stdout or stderr. */
const FENCE_MS = 1_000;

/** Calls back when what is still in these pipes (1 = stdout, 2 = stderr, 3 = both) has been read, or will not come. */
export function afterOutput(child: Child, pipes: number, then: () => void): void {
  const end = () => {
    clearTimeout(timer);
    then();
  };
  const timer = setTimeout(end, FENCE_MS);
  child.onExit = end;
  child.output.whenFenced(pipes, end);
}

/** How long a process without a channel is given to turn out to have ended. */
export const CHANNEL_MS = 500;

/** What a job without a channel fails with. @param problem what the process did wrong with it */
export function lostChannel(problem = "closed its connection to the server before it returned"): string {
  return `the script's process ${problem}`;
}

/** The child is gone before it could answer. */
export class ChildEnded extends Error {
  readonly exit: ChildExit;
  constructor(exit: ChildExit) {
    super("the process ended");
    this.exit = exit;
  }
}

/** A script that could not be loaded; the job fails with this. */
export class LoadFault extends Error {
  readonly error: JobError;
  constructor(error: JobError) {
    super(error.message);
    this.error = error;
  }
}

/** Makes a blank child one version. @throws LoadFault, ChildEnded */
export async function loadVersion(
  child: Child,
  load: Omit<Load, "t" | "nonce">,
  python?: Exec,
): Promise<void> {
  const nonce = randomBytes(16).toString("hex");
  child.output.nonce = nonce;
  if (python) {
    const turned = nextMessage(child, "channel", "load_failed");
    child.send(python);
    const answer = await turned;
    if (answer.t === "load_failed") throw new LoadFault(answer.error);
  }
  const loaded = nextMessage(child, "loaded", "load_failed");
  child.send({ t: "load", nonce, ...load });
  const answer = await loaded;
  if (answer.t === "load_failed") throw new LoadFault(answer.error);
}
