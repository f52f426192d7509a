/**
 * Python packages: resolved to a lock on deployment and installed once per lock, by `uv` if it is on the PATH, else by
 * `python3 -m pip`. Both run in the sandbox of jobs, because building a package runs its author's code.
 */

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { readOwnFile } from "../../../lib/files/own-file.ts";
import { MISSING_PIP } from "../../languages/missing-tool.ts";
import type { Python } from "../../languages/python/find-python.ts";
import {
  formatPythonLock,
  getInstallationFolderName,
  hasHashes,
  type LockedPackage,
  parsePythonLock,
} from "../../languages/python/lock-text.ts";
import { DependencyError } from "../../languages/typescript/lock.ts";
import type { LockOptions, PythonIndex } from "../types.ts";
import { findNamedPaths, publishFolder, type ToolOutcome, type ToolRequest } from "./tool.ts";

export interface PipClientOptions {
  /** Parent folder of all installations, one folder per lock. */
  directory: string;
  index: () => PythonIndex;
  runTool: (request: ToolRequest) => Promise<ToolOutcome>;
}

export interface PipOptions extends LockOptions {
  python: Python;
}

/** Name of the modules folder in an installation. */
const MODULES_FOLDER = "packages";
/** Timeout, in case an index does not answer. */
const TIMEOUT_MS = 10 * 60_000;
/** Limit of what a package client writes: the report contains the metadata of every package. */
const MAX_RESULT_BYTES = 50_000_000;
/** Environment variables of the package clients, used if the instance's settings are absent. */
const INHERITED_VARIABLES =
  /^(PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|FIND_LINKS|NO_INDEX|CERT|PROXY|RETRIES|TIMEOUT|DEFAULT_TIMEOUT)|UV_(INDEX_URL|EXTRA_INDEX_URL|DEFAULT_INDEX|INDEX|FIND_LINKS|INSECURE_HOST|HTTP_RETRIES|HTTP_TIMEOUT)|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|https?_proxy|HTTPS?_PROXY)$/;

export interface PipClient {
  /** Resolves requirements. @returns the lock's text @throws DependencyError with the package client's message */
  resolve(requirements: string[], options: PipOptions): Promise<string>;
  /**
   * Installs a lock.
   * @param onUse called with the installation folder before any await
   * @returns the folder to import modules from
   * @throws DependencyError
   */
  install(lock: string, options: PipOptions, onUse: (folder: string) => void): Promise<string>;
}

export function createPipClient({ directory, index, runTool }: PipClientOptions): PipClient {
  const installing = new Map<string, Promise<string>>();

  async function run(request: Omit<ToolRequest, "kind" | "timeout_ms" | "environment">): Promise<void> {
    const environment = environmentFor(index());
    const named = Object.values(environment).flatMap((value) => value.split(/[\s,]+/));
    const read = [...request.read, ...findNamedPaths([request.program, ...named], environment)];
    const outcome = await runTool({
      ...request,
      kind: "package_client",
      environment,
      read,
      timeout_ms: TIMEOUT_MS,
    });
    if ("stopped" in outcome) throw new DependencyError(removeUrlCredentials(outcome.stopped.message));
    if (outcome.exit.code !== 0) throw new DependencyError(extractReason(outcome.lastLines));
  }

  async function resolveByUv(uv: string, requirements: string[], options: PipOptions): Promise<string> {
    let lines = "";
    await run({
      name: "uv pip compile",
      program: uv,
      argv: [
        "pip",
        "compile",
        "requirements.in",
        "--generate-hashes",
        "--no-header",
        "--no-annotate",
        "--no-cache",
        "--quiet",
        ...["--python", options.python.program, "--output-file", "requirements.txt"],
      ],
      files: { "requirements.in": `${requirements.join("\n")}\n` },
      read: options.python.folders,
      owner: options.owner,
      onLog: options.onLog,
      signal: options.signal,
      async collect(folder) {
        lines = await readResult(folder, "requirements.txt");
      },
    });
    return [`# py: ${options.python.version}`, ...parsePythonLock(lines).requirements].join("\n");
  }

  async function resolveByPip(requirements: string[], options: PipOptions): Promise<string> {
    let report = "";
    await run({
      name: "pip install --dry-run",
      program: options.python.program,
      argv: [
        ...["-m", "pip", "install", "--dry-run", "--ignore-installed", "--report", "report.json"],
        ...["--quiet", "--no-cache-dir", "--disable-pip-version-check", "-r", "requirements.in"],
      ],
      files: { "requirements.in": `${requirements.join("\n")}\n` },
      read: options.python.folders,
      owner: options.owner,
      onLog: options.onLog,
      signal: options.signal,
      async collect(folder) {
        report = await readResult(folder, "report.json");
      },
    });
    return formatPythonLock(options.python.version, parseReport(report));
  }

  async function install(lock: string, folder: string, options: PipOptions): Promise<string> {
    const parsed = parsePythonLock(lock);
    await mkdir(directory, { recursive: true });
    const uv = findUv();
    const hashes = hasHashes(parsed) ? ["--require-hashes"] : [];
    const target = [
      "--no-deps",
      ...hashes,
      "--target",
      `{folder}/made/${MODULES_FOLDER}`,
      "-r",
      "requirements.txt",
    ];
    await run({
      name: uv ? "uv pip install" : "pip install",
      program: uv ?? options.python.program,
      argv: uv
        ? ["pip", "install", "--no-cache", "--quiet", "--python", options.python.program, ...target]
        : [
            ...["-m", "pip", "install", "--quiet", "--no-cache-dir", "--disable-pip-version-check"],
            ...["--no-warn-script-location", "--no-compile"],
            ...target,
          ],
      files: {
        "requirements.txt": `${parsed.requirements.join("\n")}\n`,
        [`made/${MODULES_FOLDER}/.keep`]: "",
      },
      read: options.python.folders,
      owner: options.owner,
      onLog: options.onLog,
      signal: options.signal,
      collect: (made) => publishFolder(join(made, "made"), folder),
    });
    return join(folder, MODULES_FOLDER);
  }

  return {
    resolve(requirements, options) {
      const uv = findUv();
      return uv ? resolveByUv(uv, requirements, options) : resolveByPip(requirements, options);
    },
    install(lock, options, onUse) {
      const folder = join(
        directory,
        getInstallationFolderName(parsePythonLock(lock), options.python.version),
      );
      onUse(folder);
      if (existsSync(folder)) return Promise.resolve(join(folder, MODULES_FOLDER));
      const running = installing.get(folder);
      if (running) return running;
      const started = install(lock, folder, options).finally(() => installing.delete(folder));
      installing.set(folder, started);
      return started;
    },
  };
}

/** Finds `uv` on the current PATH; without the option, the PATH at the start of the process would be searched. */
const findUv = () => Bun.which("uv", { PATH: process.env.PATH ?? "" });

/** Returns the environment with the sources: URLs may contain credentials, and arguments are visible to all users. */
function environmentFor({ url, extra_urls, trusted_hosts, wheels }: PythonIndex): Record<string, string> {
  const environment: Record<string, string> = {
    PIP_NO_INPUT: "1",
    // Without a network, pip logs one line per retry.
    PIP_RETRIES: "1",
    PIP_ROOT_USER_ACTION: "ignore",
    PYTHONDONTWRITEBYTECODE: "1",
    NO_COLOR: "1",
    LANG: "C.UTF-8",
  };
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && INHERITED_VARIABLES.test(name)) environment[name] = value;
  }
  const set = (names: string[], value: string) => {
    for (const name of names) if (value !== "") environment[name] = value;
  };
  set(["PIP_INDEX_URL", "UV_DEFAULT_INDEX"], url ?? "");
  set(["PIP_EXTRA_INDEX_URL", "UV_INDEX"], extra_urls.join(" "));
  set(["PIP_FIND_LINKS", "UV_FIND_LINKS"], wheels ?? "");
  set(["PIP_TRUSTED_HOST", "UV_INSECURE_HOST"], trusted_hosts.join(" "));
  return environment;
}

interface PipReport {
  install: {
    metadata: { name: string; version: string };
    is_direct?: boolean;
    download_info: { url: string; archive_info?: { hash?: string; hashes?: Record<string, string> } };
  }[];
}

/**
 * Reads what a package client has written into its folder, where code of packages may have replaced it.
 * @throws DependencyError if it is no regular file, or too large
 */
async function readResult(folder: string, name: string): Promise<string> {
  const found = await readOwnFile(join(folder, name), MAX_RESULT_BYTES);
  if (found?.bytes) return found.bytes.toString();
  const reason = found ? `is larger than ${MAX_RESULT_BYTES} bytes` : "is missing or no regular file";
  throw new DependencyError(`Python packages could not be resolved: ${name} of the package client ${reason}`);
}

/** Parses the packages of pip's installation report. @throws DependencyError if it is not one */
function parseReport(text: string): LockedPackage[] {
  let report: PipReport;
  try {
    report = JSON.parse(text);
  } catch {
    throw new DependencyError("Python packages could not be resolved: pip's report is not valid JSON");
  }
  return report.install.map(({ metadata, is_direct, download_info }) => {
    const { hashes, hash } = download_info.archive_info ?? {};
    const sha256 = hashes?.sha256 ?? /^sha256=(\w+)$/.exec(hash ?? "")?.[1];
    return {
      name: metadata.name,
      version: metadata.version,
      hashes: sha256 ? [`sha256:${sha256}`] : [],
      ...(is_direct ? { url: removeUrlCredentials(download_info.url) } : {}),
    };
  });
}

const FAILED = "Python packages could not be resolved or installed";

/** Extracts the package client's last error messages, without its advice. */
function extractReason(lines: string): string {
  const said = removeUrlCredentials(lines)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("[notice]"));
  if (said.some((line) => line.endsWith("No module named pip"))) return `${FAILED}: ${MISSING_PIP}`;
  const errors = said.filter((line) => /^(error|×|╰|hint|could not|no matching)/i.test(line));
  const unreachable = describeUnreachable(said.filter((line) => /\bRetrying\b/.test(line)).at(-1));
  const reason = [...unreachable, ...(errors.length > 0 ? errors : said.slice(-3))].join("; ");
  return `${FAILED}: ${reason || "the package client printed no error"}`;
}

/** Returns a message that the index cannot be reached: pip's own errors only say that the index lacks the package. */
function describeUnreachable(retry: string | undefined): string[] {
  if (retry === undefined) return [];
  const [, cause] = /\[Errno -?\d+\] ([\w .,-]+)/.exec(retry) ?? [];
  return [`the package index cannot be reached${cause === undefined ? "" : ` (${cause})`}`];
}

function removeUrlCredentials(text: string): string {
  return text.replace(/(https?:\/\/)[^\s/@]+@/g, "$1");
}
