/** npm locks: resolved once on deployment, installed once per lock. */
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BadRequest } from "../../../lib/errors.ts";
import type { Dependency } from "../types.ts";
import { CLIENT_PACKAGE, formatLock, type Lock, parseLock, renewClient } from "./lock-text.ts";

/** Packages could not be resolved or installed; the message names the package and the registry's error. */
export class DependencyError extends BadRequest {
  override readonly name: string = "DependencyError";
}

export interface Installer {
  /** Command of the Bun CLI, e.g. this executable. */
  command: string[];
  /** The installer's whole environment. */
  environment: Record<string, string>;
  /** Folder of downloaded packages, which all installations share. */
  cache: string;
  /** Folder for temporary files. */
  directory: string;
}

/** A running installer, as its limits are watched. */
export interface RunningInstaller {
  readonly pid: number;
  /** Folders that it fills: its own, and what is new in the cache. */
  readonly folders: string[];
  /** Ends it. @param reason the exceeded limit */
  fail(reason: string): void;
}

interface InstallOptions extends Installer {
  /** Watches the limits of an installer. @returns a function that ends that */
  watch: (installer: RunningInstaller) => () => void;
  /** Runs the installer when its turn comes. @returns undefined if the signal aborted before */
  inTurn: <T>(work: () => Promise<T>, signal: AbortSignal | undefined) => Promise<T | undefined>;
  onLog: (text: string) => void;
  signal?: AbortSignal | undefined;
}

/** Resolves dependencies to a lock. @returns the lock's text @throws DependencyError */
export async function createLock(dependencies: Dependency[], options: InstallOptions): Promise<string> {
  await mkdir(options.directory, { recursive: true });
  const folder = await mkdtemp(join(options.directory, "lock-"));
  try {
    const manifest = {
      dependencies: Object.fromEntries(dependencies.map(({ name, version }) => [name, version])),
    };
    const package_json = JSON.stringify(manifest, undefined, 2);
    await writeFile(join(folder, "package.json"), package_json);
    await runInstaller(["install", "--lockfile-only", "--ignore-scripts", "--no-progress"], folder, options);
    const bun_lock = await readFile(join(folder, "bun.lock"), "utf8");
    return formatLock({ package_json, bun_lock });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const installing = new Map<string, Promise<void>>();

/** Installs a lock into `folder`/node_modules once; concurrent calls share the installation. @throws DependencyError */
export function installLock(lock: string, folder: string, options: InstallOptions): Promise<void> {
  const parsed = parseLock(lock);
  if (!parsed || existsSync(folder)) return Promise.resolve();
  const running = installing.get(folder);
  if (running) return running;
  const started = install(parsed, folder, options).finally(() => installing.delete(folder));
  installing.set(folder, started);
  return started;
}

async function install(parsed: Lock, folder: string, options: InstallOptions): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const work = await mkdtemp(`${folder}.`);
  try {
    const arguments_ = ["install", "--ignore-scripts", "--no-progress"];
    try {
      await writeLock(parsed, work);
      await runInstaller([...arguments_, "--production", "--frozen-lockfile"], work, options);
    } catch (cause) {
      if (!isClientWithdrawn(cause)) throw cause;
      await writeLock(renewClient(parsed), work);
      await runInstaller(arguments_, work, options);
    }
    await rm(join(work, TEMPORARY_FOLDER), { recursive: true, force: true });
    await mkdir(join(work, "node_modules"), { recursive: true });
    await rename(work, folder).catch((cause) => {
      // Another process installed the same lock first.
      if (!existsSync(folder)) throw cause;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function writeLock({ package_json, bun_lock }: Lock, folder: string): Promise<void> {
  await writeFile(join(folder, "package.json"), package_json);
  await writeFile(join(folder, "bun.lock"), bun_lock);
}

/** Whether the registry no longer has the version of the client's own package that a lock names. */
function isClientWithdrawn(cause: unknown): boolean {
  return (
    cause instanceof DependencyError &&
    cause.message.includes(`/${CLIENT_PACKAGE}/-/`) &&
    /\b404\b/.test(cause.message)
  );
}

/** Packages are extracted in this folder, below the one they are for, so that they count for its size. */
const TEMPORARY_FOLDER = ".extracting";

/** Timeout, in case a registry does not answer. */
const INSTALL_TIMEOUT_MS = 10 * 60_000;

async function runInstaller(arguments_: string[], cwd: string, options: InstallOptions): Promise<void> {
  const outcome = await options.inTurn(() => spawnInstaller(arguments_, cwd, options), options.signal);
  if (!outcome || options.signal?.aborted) {
    throw new DependencyError("the installation of dependencies was stopped");
  }
  const { text, code, isLate, reason: limit } = outcome;
  if (limit !== undefined) throw new DependencyError(`dependencies could not be installed: ${limit}`);
  if (code === 0) return;
  if (isLate) {
    throw new DependencyError(
      `dependencies could not be installed within ${INSTALL_TIMEOUT_MS / 60_000} minutes`,
    );
  }
  const [, repository] = FROM_REPOSITORY.exec(text) ?? [];
  if (repository !== undefined) {
    throw new DependencyError(
      `dependencies could not be installed: ${repository} comes from a git repository, but packages are installed from the registry only`,
    );
  }
  const reason = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^(error|warn)|failed|not found|404|No version/i.test(line))
    .slice(0, 5)
    .join("; ");
  throw new DependencyError(`dependencies could not be installed: ${reason || text.trim().slice(-500)}`);
}

/** What the installer says of a package in a git repository: it finds no program `git`. */
const FROM_REPOSITORY = /"git" is not installed \(needed for "([^"\n]+)"\)/;

interface Installation {
  text: string;
  code: number;
  isLate: boolean;
  /** The limit that it exceeded, if it did. */
  reason: string | undefined;
}

async function spawnInstaller(
  arguments_: string[],
  cwd: string,
  options: InstallOptions,
): Promise<Installation> {
  const cached = new Set(listNames(options.cache));
  const child = Bun.spawn([...options.command, ...arguments_], {
    cwd,
    env: { ...options.environment, BUN_TMPDIR: join(cwd, TEMPORARY_FOLDER) },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    killSignal: "SIGKILL",
    timeout: INSTALL_TIMEOUT_MS,
    ...(options.signal ? { signal: options.signal } : {}),
  });
  let reason: string | undefined;
  const endWatch = options.watch({
    pid: child.pid,
    get folders() {
      const fresh = listNames(options.cache).filter((name) => !cached.has(name));
      return [cwd, ...fresh.map((name) => join(options.cache, name))];
    },
    fail(why) {
      reason ??= why;
      child.kill("SIGKILL");
    },
  });
  try {
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    const text = removeUrlCredentials(`${out}${err}`);
    options.onLog(text);
    return { text, code, isLate: child.signalCode === "SIGKILL", reason };
  } finally {
    endWatch();
  }
}

/** Lists a folder; one that does not exist yet is empty. */
function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Removes user and password from URLs in an installer's messages. */
function removeUrlCredentials(text: string): string {
  return text.replace(/(https?:\/\/)[^\s/@]+@/g, "$1");
}
