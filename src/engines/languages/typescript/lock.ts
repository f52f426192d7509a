/** The lock of a script's dependencies: resolved once when a version is deployed, installed once per lock. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BadRequest } from "../../../lib/errors.ts";
import type { Dependency } from "../types.ts";
import { formatLock, type Lock, parseLock } from "./lock-text.ts";

/** The packages could not be resolved or installed; the message names the package and what the registry said. */
export class DependencyError extends BadRequest {
  override readonly name: string = "DependencyError";
}

export interface Installer {
  /** A Bun command line, e.g. this executable. */
  command: string[];
  /** The whole environment of the installer. */
  environment: Record<string, string>;
  /** Folder for its temporary work. */
  directory: string;
}

interface Options extends Installer {
  onLog: (text: string) => void;
  signal?: AbortSignal | undefined;
}

/** @returns lock text. @throws DependencyError */
export async function createLock(dependencies: Dependency[], options: Options): Promise<string> {
  await mkdir(options.directory, { recursive: true });
  const folder = await mkdtemp(join(options.directory, "lock-"));
  try {
    const manifest = {
      dependencies: Object.fromEntries(dependencies.map(({ name, version }) => [name, version])),
    };
    const package_json = JSON.stringify(manifest, undefined, 2);
    await writeFile(join(folder, "package.json"), package_json);
    await run(["install", "--lockfile-only", "--ignore-scripts", "--no-progress"], folder, options);
    const bun_lock = await readFile(join(folder, "bun.lock"), "utf8");
    return formatLock({ package_json, bun_lock });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const installing = new Map<string, Promise<void>>();

/**
 * Installs exactly what the lock says into `folder`/node_modules, once: later calls find it done, calls at the same
 * time share one install. @throws DependencyError
 */
export function installLock(lock: string, folder: string, options: Options): Promise<void> {
  const parsed = parseLock(lock);
  if (!parsed || existsSync(folder)) return Promise.resolve();
  const running = installing.get(folder);
  if (running) return running;
  const started = install(parsed, folder, options).finally(() => installing.delete(folder));
  installing.set(folder, started);
  return started;
}

async function install(parsed: Lock, folder: string, options: Options): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const work = await mkdtemp(`${folder}.`);
  try {
    await writeFile(join(work, "package.json"), parsed.package_json);
    await writeFile(join(work, "bun.lock"), parsed.bun_lock);
    const arguments_ = ["install", "--frozen-lockfile", "--ignore-scripts", "--production", "--no-progress"];
    await run(arguments_, work, options);
    await mkdir(join(work, "node_modules"), { recursive: true });
    await rename(work, folder).catch((cause) => {
      // Another process was first; what it installed is the same.
      if (!existsSync(folder)) throw cause;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** A registry that does not answer must not hold a job, or the end of the server, for ever. */
const INSTALL_LIMIT_MS = 10 * 60_000;

async function run(arguments_: string[], cwd: string, options: Options): Promise<void> {
  const child = Bun.spawn([...options.command, ...arguments_], {
    cwd,
    env: options.environment,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    killSignal: "SIGKILL",
    timeout: INSTALL_LIMIT_MS,
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const text = withoutCredentials(`${out}${err}`);
  options.onLog(text);
  if (code === 0) return;
  if (options.signal?.aborted) throw new DependencyError("the installation of dependencies was stopped");
  if (child.signalCode === "SIGKILL") {
    throw new DependencyError(
      `dependencies could not be installed within ${INSTALL_LIMIT_MS / 60_000} minutes`,
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

/** URLs in an installer's messages may carry a user and password. */
function withoutCredentials(text: string): string {
  return text.replace(/(https?:\/\/)[^\s/@]+@/g, "$1");
}
