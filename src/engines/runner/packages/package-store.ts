/** Packages of scripts: selects the client that resolves and installs them, their location, and the link to them. */

import { dirname, join } from "node:path";
import { sha256 } from "../../../lib/text/ids.ts";
import { describeMissingTool, INSTALL_PYTHON } from "../../languages/missing-tool.ts";
import { findPackageFolder } from "../../languages/programs/table.ts";
import type { PackageFolder } from "../../languages/programs/types.ts";
import type { Python } from "../../languages/python/find-python.ts";
import { parsePythonLock } from "../../languages/python/lock-text.ts";
import type { Packages } from "../../languages/types.ts";
import {
  createLock,
  DependencyError,
  installLock,
  type RunningInstaller,
} from "../../languages/typescript/lock.ts";
import { makeFolderReadable } from "../sandbox/users/make-readable.ts";
import type { WatchedJob } from "../sandbox/watch/resource-watch.ts";
import type { JobLimits, LockOptions, PythonIndex, RunnableVersion } from "../types.ts";
import { createInstaller } from "./npm-client.ts";
import { createPipClient } from "./pip-client.ts";
import type { ToolOutcome, ToolRequest } from "./tool.ts";
import type { ToolSlots } from "./tool-slots.ts";

/** Names of the links to packages beside a script's source. */
export const PACKAGE_LINKS = {
  npm: "node_modules",
  pip: "packages",
  composer: "vendor",
  bundler: "bundle",
} as const;

export interface InstalledPackages {
  link: string;
  /** Folder of the packages, two levels below `dependencies`. */
  target: string;
}

export interface PackageStore {
  /** Resolves packages. @returns the lock's text @throws DependencyError naming the package */
  lock(packages: Packages, options: LockOptions): Promise<string>;
  /**
   * Installs the packages of a version's lock, once for all versions with the same lock.
   * @param onUse called with the folder before any await
   * @returns undefined if there is nothing to install
   * @throws DependencyError
   */
  install(version: RunnableVersion, onUse: (folder: string) => void): Promise<InstalledPackages | undefined>;
  /** Returns the link's name for this version; undefined if there is nothing to install to a folder. */
  linkOf(version: RunnableVersion): string | undefined;
  /** Aborts running installations. */
  stop(): void;
}

export interface PackageStoreOptions {
  /** The runner's folder. */
  directory: string;
  registry: () => string | undefined;
  index: () => PythonIndex;
  python: (version: string | undefined) => Promise<Python | undefined>;
  /** Resolves packages by the client of a language that a program of the machine runs or compiles. */
  lockProgram: (packages: Extract<Packages, { client: "program" }>, options: LockOptions) => Promise<string>;
  /** Installs packages by the client of such a language, below `dependencies`. @returns the folder of the packages */
  installFolder: (
    version: RunnableVersion,
    packages: PackageFolder,
    options: LockOptions,
    onUse: (folder: string) => void,
  ) => Promise<string>;
  runTool: (request: ToolRequest) => Promise<ToolOutcome>;
  /** Limits of a client that runs outside of the sandbox. */
  limits: JobLimits;
  /** Watches the limits of such a client. @returns a function that ends that */
  watch: (client: WatchedJob) => () => void;
  turns: ToolSlots;
}

/** Returns the Python version of a lock; undefined if there is no lock or it names none. */
export function readPythonVersion(lock: string | undefined): string | undefined {
  return lock ? parsePythonLock(lock).python : undefined;
}

export function createPackageStore(options: PackageStoreOptions): PackageStore {
  const { directory, registry } = options;
  const stopping = new AbortController();
  const dependencies = join(directory, "dependencies");
  const pip = createPipClient({ directory: dependencies, index: options.index, runTool: options.runTool });
  const npm = (owner: string) => ({
    ...createInstaller(dirname(directory), registry()),
    inTurn: <T>(work: () => Promise<T>, signal: AbortSignal | undefined) =>
      options.turns.run("package_client", owner, work, signal),
    watch: (installer: RunningInstaller) =>
      options.watch({
        job_id: "bun install",
        limits: options.limits,
        since: performance.now(),
        pid: installer.pid,
        get folders() {
          return installer.folders;
        },
        fail: ({ message }) => installer.fail(message),
      }),
  });

  async function pythonFor(version: string | undefined, onLog: (text: string) => void): Promise<Python> {
    const python = await options.python(version);
    if (!python) {
      throw new DependencyError(describeMissingTool("python3", INSTALL_PYTHON));
    }
    if (version !== undefined && python.version !== version) {
      onLog(`Python ${version} is not installed on this server: Python ${python.version} is used\n`);
    }
    return python;
  }

  function linkOf({ language, content, lock }: RunnableVersion): string | undefined {
    const folder = findPackageFolder(language, content);
    if (folder) return folder.folder;
    if (!lock?.trim()) return undefined;
    if (language === "bun" || language === "nativets" || language === "deno") return PACKAGE_LINKS.npm;
    if (language !== "python3") return undefined;
    return parsePythonLock(lock).requirements.length > 0 ? PACKAGE_LINKS.pip : undefined;
  }

  return {
    async lock(packages, lockOptions) {
      if (packages.client === "npm") {
        if (packages.problem) throw new DependencyError(packages.problem);
        return createLock(packages.dependencies, { ...npm(lockOptions.owner), ...lockOptions });
      }
      if (packages.client === "program") return options.lockProgram(packages, lockOptions);
      const python = await pythonFor(packages.python, lockOptions.onLog);
      return pip.resolve(packages.requirements, { ...lockOptions, python });
    },
    async install(version, onUse) {
      const link = linkOf(version);
      if (link === undefined) return undefined;
      const lock = version.lock ?? "";
      const installOptions = {
        owner: version.workspace_id,
        onLog: () => {},
        signal: stopping.signal,
      };
      const folder = findPackageFolder(version.language, version.content);
      if (folder) {
        const target = await options.installFolder(version, folder, installOptions, onUse);
        await makeFolderReadable(dirname(target));
        return { link, target };
      }
      if (link === PACKAGE_LINKS.npm) {
        const folder = join(dependencies, sha256(lock));
        onUse(folder);
        await installLock(lock, folder, { ...npm(version.workspace_id), ...installOptions });
        await makeFolderReadable(folder);
        return { link, target: join(folder, "node_modules") };
      }
      const python = await pythonFor(readPythonVersion(lock), () => {});
      const target = await pip.install(lock, { ...installOptions, python }, onUse);
      await makeFolderReadable(dirname(target));
      return { link, target };
    },
    linkOf,
    stop: () => stopping.abort(),
  };
}
