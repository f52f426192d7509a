/**
 * Python packages: resolved to a lock when a version is deployed, and installed once per lock, by `uv` where it is on the
 * PATH, else by `python3 -m pip`. Both run behind the walls of jobs, since building a package runs code of its author.
 */
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  formatPythonLock,
  hasHashes,
  installationName,
  type Locked,
  parsePythonLock,
} from "../../languages/python/lock-text.ts";
import { DependencyError } from "../../languages/typescript/lock.ts";
import type { Python } from "../sandbox/walls/python.ts";
import type { PythonIndex } from "../types.ts";
import { keepFolder, type ToolOutcome, type ToolRequest } from "./tool.ts";

export interface PipClientOptions {
  /** Folder below which each lock is installed into one of its own. */
  directory: string;
  index: () => PythonIndex;
  runTool: (request: ToolRequest) => Promise<ToolOutcome>;
}

export interface PipOptions {
  python: Python;
  onLog: (text: string) => void;
  signal?: AbortSignal | undefined;
}

/** What the folder of modules is called, in the folder of a lock. */
const MODULES = "packages";
/** An index that does not answer must not hold a job for ever. */
const LIMIT_MS = 10 * 60_000;
/** Settings of the package clients that count when the instance's settings say nothing. */
const PASSED_ON =
  /^(PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|FIND_LINKS|NO_INDEX|CERT|PROXY)|UV_(INDEX_URL|EXTRA_INDEX_URL|DEFAULT_INDEX|INDEX|FIND_LINKS|INSECURE_HOST)|SSL_CERT_FILE|REQUESTS_CA_BUNDLE|https?_proxy|HTTPS?_PROXY)$/;

export interface PipClient {
  /** @returns the lock's text. @throws DependencyError with what the package client said */
  resolve(requirements: string[], options: PipOptions): Promise<string>;
  /**
   * @param onUse called with the lock's folder before anything is awaited for it
   * @returns the folder that modules are imported from, in the lock's. @throws DependencyError
   */
  install(lock: string, options: PipOptions, onUse: (folder: string) => void): Promise<string>;
}

export function createPipClient({ directory, index, runTool }: PipClientOptions): PipClient {
  const installing = new Map<string, Promise<string>>();

  async function run(request: Omit<ToolRequest, "timeout_ms" | "environment">): Promise<void> {
    const environment = environmentFor(index());
    const read = [...request.read, ...foldersOfWheels(environment)];
    const outcome = await runTool({ ...request, environment, read, timeout_ms: LIMIT_MS });
    if ("stopped" in outcome) throw new DependencyError(withoutCredentials(outcome.stopped.message));
    if (outcome.exit.code !== 0) throw new DependencyError(reasonOf(outcome.lastLines));
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
      onLog: options.onLog,
      signal: options.signal,
      async collect(folder) {
        lines = await readFile(join(folder, "requirements.txt"), "utf8");
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
      onLog: options.onLog,
      signal: options.signal,
      async collect(folder) {
        report = await readFile(join(folder, "report.json"), "utf8");
      },
    });
    return formatPythonLock(options.python.version, lockedIn(report));
  }

  async function install(lock: string, folder: string, options: PipOptions): Promise<string> {
    const parsed = parsePythonLock(lock);
    await mkdir(directory, { recursive: true });
    const uv = Bun.which("uv");
    const hashes = hasHashes(parsed) ? ["--require-hashes"] : [];
    const target = ["--no-deps", ...hashes, "--target", `{folder}/made/${MODULES}`, "-r", "requirements.txt"];
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
      files: { "requirements.txt": `${parsed.requirements.join("\n")}\n`, [`made/${MODULES}/.keep`]: "" },
      read: options.python.folders,
      onLog: options.onLog,
      signal: options.signal,
      collect: (made) => keepFolder(join(made, "made"), folder),
    });
    return join(folder, MODULES);
  }

  return {
    resolve(requirements, options) {
      const uv = Bun.which("uv");
      return uv ? resolveByUv(uv, requirements, options) : resolveByPip(requirements, options);
    },
    install(lock, options, onUse) {
      const folder = join(directory, installationName(parsePythonLock(lock), options.python.version));
      onUse(folder);
      if (existsSync(folder)) return Promise.resolve(join(folder, MODULES));
      const running = installing.get(folder);
      if (running) return running;
      const started = install(lock, folder, options).finally(() => installing.delete(folder));
      installing.set(folder, started);
      return started;
    },
  };
}

/** Of the places that wheels are found at: folders of this machine. */
function foldersOfWheels({ PIP_FIND_LINKS = "" }: Record<string, string>): string[] {
  return PIP_FIND_LINKS.split(/\s+/).filter((place) => place.startsWith("/") && existsSync(place));
}

/** URLs may carry credentials, so they travel in the environment: arguments are everybody's to read. */
function environmentFor({ url, extra_urls, trusted_hosts, wheels }: PythonIndex): Record<string, string> {
  const environment: Record<string, string> = {
    PIP_NO_INPUT: "1",
    PIP_ROOT_USER_ACTION: "ignore",
    PYTHONDONTWRITEBYTECODE: "1",
    NO_COLOR: "1",
    LANG: "C.UTF-8",
  };
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && PASSED_ON.test(name)) environment[name] = value;
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

interface Report {
  install: {
    metadata: { name: string; version: string };
    is_direct?: boolean;
    download_info: { url: string; archive_info?: { hash?: string; hashes?: Record<string, string> } };
  }[];
}

/** What pip's installation report says would be installed. */
function lockedIn(report: string): Locked[] {
  return (JSON.parse(report) as Report).install.map(({ metadata, is_direct, download_info }) => {
    const { hashes, hash } = download_info.archive_info ?? {};
    const sha256 = hashes?.sha256 ?? /^sha256=(\w+)$/.exec(hash ?? "")?.[1];
    return {
      name: metadata.name,
      version: metadata.version,
      hashes: sha256 ? [`sha256:${sha256}`] : [],
      ...(is_direct ? { url: withoutCredentials(download_info.url) } : {}),
    };
  });
}

/** What the package client said last of all about what went wrong, without its advice. */
function reasonOf(lines: string): string {
  const said = withoutCredentials(lines)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("[notice]"));
  const errors = said.filter((line) => /^(error|×|╰|hint|could not|no matching)/i.test(line));
  const reason = (errors.length > 0 ? errors : said.slice(-3)).join("; ");
  return `Python packages could not be resolved or installed: ${reason || "the package client said nothing"}`;
}

function withoutCredentials(text: string): string {
  return text.replace(/(https?:\/\/)[^\s/@]+@/g, "$1");
}
