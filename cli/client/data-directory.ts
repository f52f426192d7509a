/**
 * Locates the data directory of a command: the one given by an option or the environment, else the nearest `.svc` at or
 * above the current folder, else the one that `svc init` created last. Also stores what `svc init` learned about the
 * directory.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type Config, type ConfigOverrides, loadConfig } from "../../src/platform/config/config.ts";
import { CliError, EXIT_CODES } from "../terminal/text/failure.ts";

export const DEFAULT_DATA_DIR = ".svc";

/** Returns a file below the user's config directory (XDG Base Directory Specification). */
export function getUserFile(name: string): string {
  const config = process.env.XDG_CONFIG_HOME || join(process.env.HOME || homedir(), ".config");
  return join(config, "svc", name);
}

/** Finds the nearest data directory called `.svc` at or above the current folder. */
export function findDataDirectory(): string | undefined {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const found = join(folder, DEFAULT_DATA_DIR);
    if (isDataDirectory(found)) return found;
    if (dirname(folder) === folder) return undefined;
  }
}

/** Whether a server or a command has used the folder as a data directory. */
export function isDataDirectory(folder: string): boolean {
  return ["svc.lock", "svc.db", "instance.key"].some((name) => existsSync(join(folder, name)));
}

/** Whether a data directory is given, by the option or in the environment. */
export function isDirectoryNamed(option: string | undefined): boolean {
  return option !== undefined || Boolean(process.env.SVC_DATA_DIR || process.env.DATABASE_URL);
}

/** Returns the data directory for commands that need an existing one; undefined leaves the choice to the settings. */
export function locateDataDirectory(option: string | undefined): string | undefined {
  return isDirectoryNamed(option) ? option : (findDataDirectory() ?? recallDataDirectory());
}

/**
 * Requires that the given data directory exists, so that a misspelled name does not create a second, empty instance.
 * @throws CliError
 */
export function requireDataDirectory(option: string | undefined): void {
  const { data_dir, database_url } = loadConfig({ data_dir: option });
  if (database_url !== undefined || existsSync(data_dir)) return;
  throw new CliError("NoData", `there is no data directory ${data_dir}`, {
    hint: `svc init --data-dir ${data_dir} makes it`,
    exit_code: EXIT_CODES.unreachable,
  });
}

/** Creates the error for a command that finds no server and no data directory. */
export function createNoServerError(): CliError {
  return new CliError(
    "NoServer",
    `no server and no data: no ${DEFAULT_DATA_DIR} in ${process.cwd()} or above`,
    {
      hint: "svc init makes one here; elsewhere: --data-dir, SVC_DATA_DIR, or svc login <url>",
      exit_code: EXIT_CODES.unreachable,
    },
  );
}

/**
 * Stores which data directory `svc init` created, for commands in other folders; best effort.
 * @returns the one that was stored before, if it is another that still exists
 */
export function rememberDataDirectory(data_dir: string): string | undefined {
  const before = recallDataDirectory();
  const file = getUserFile("instance.json");
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${JSON.stringify({ data_dir })}\n`, { mode: 0o600 });
  } catch {
    // Users without a writable home must give the directory.
    return undefined;
  }
  return before === data_dir ? undefined : before;
}

function recallDataDirectory(): string | undefined {
  const data_dir = readJsonFile<{ data_dir?: string }>(getUserFile("instance.json"))?.data_dir;
  return data_dir !== undefined && isDataDirectory(data_dir) ? data_dir : undefined;
}

/** Facts about an instance that `svc init` stores in the data directory. */
export interface InstanceFacts {
  host: string;
  port: number;
  /** E-mail of the first admin account, as which local commands act. */
  admin: string;
}

const FACTS_FILE = "init.json";

export function writeInstanceFacts(data_dir: string, facts: InstanceFacts): void {
  writeFileSync(join(data_dir, FACTS_FILE), `${JSON.stringify(facts)}\n`, { mode: 0o600 });
}

/** Reads the stored facts; an unreadable file counts as none. */
export function readInstanceFacts(data_dir: string): Partial<InstanceFacts> {
  const found = readJsonFile<Partial<InstanceFacts>>(join(data_dir, FACTS_FILE)) ?? {};
  const host = typeof found.host === "string" ? found.host : undefined;
  const port = Number.isInteger(found.port) ? found.port : undefined;
  const admin = typeof found.admin === "string" ? found.admin : undefined;
  return {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(admin !== undefined && { admin }),
  };
}

/** Resolves the settings of the server on a data directory; `svc init` stored the defaults of host and port there. */
export function loadServerConfig(overrides: ConfigOverrides): Config {
  const { data_dir } = loadConfig({ data_dir: overrides.data_dir });
  const { admin: _, ...address } = readInstanceFacts(data_dir);
  return loadConfig(overrides, process.env, address);
}

const URL_FILE = "serve.json";

/** Stores the address of the server that runs on the data directory. */
export function recordServerUrl(data_dir: string, url: string): void {
  writeFileSync(join(data_dir, URL_FILE), `${JSON.stringify({ url })}\n`, { mode: 0o600 });
}

export function forgetServerUrl(data_dir: string): void {
  rmSync(join(data_dir, URL_FILE), { force: true });
}

/** Returns the address of the server that runs on the data directory, or was killed there last. */
export function readServerUrl(data_dir: string): string | undefined {
  return readJsonFile<{ url?: string }>(join(data_dir, URL_FILE))?.url;
}

function readJsonFile<T>(file: string): T | undefined {
  try {
    return (JSON.parse(readFileSync(resolve(file), "utf8")) as T | null) ?? undefined;
  } catch {
    return undefined;
  }
}
