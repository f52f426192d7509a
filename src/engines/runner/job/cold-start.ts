/** Loads a script version into a blank child. */

import { describeMissingTool, INSTALL_PYTHON } from "../../languages/missing-tool.ts";
import type { RuntimeFiles } from "../files/runtime-files.ts";
import { linkSharedFolder } from "../files/shared-folder.ts";
import { getPythonModuleName } from "../files/source-tree.ts";
import { type Child, LoadFault, loadVersion } from "../process/child.ts";
import { turnIntoPython } from "../process/interpreter.ts";
import { createHostedProgram, runsInChild } from "../programs/hosted.ts";
import type { Tool } from "../programs/tools.ts";
import type { Load } from "../protocol.ts";
import type { RunnableVersion, RunnerOptions, RunRequest } from "../types.ts";
import type { QueuedRun } from "./queued-run.ts";
import type { RunContext } from "./run-context.ts";

/** Words by which code reaches modules: one too many costs ten milliseconds. */
const WAYS_TO_MODULES = /import|require|process|global|self|eval|constructor|Function|\\[ux]/;

interface ColdStart {
  child: Child;
  request: RunRequest;
  runtime: RuntimeFiles;
  /** Path of its source as the child sees it. */
  file: string;
  /** Program of the machine that runs the script; undefined if none does. */
  tool: Tool | undefined;
}

/**
 * Turns a blank child into the version of a run, and installs or compiles missing files first.
 * @param onTaken called as soon as there is a child
 * @returns undefined if the run was aborted
 * @throws LoadFault, ChildEnded, DependencyError, and system errors
 */
export async function startChild(
  { request, key }: QueuedRun,
  { files, options, runtime, interpreter, takeBlank }: RunContext<unknown>,
  signal: AbortSignal,
  onTaken: (child: Child) => void,
): Promise<Child | undefined> {
  const { version } = request;
  if (!files.has(version)) await files.ensure(version, signal);
  const tool = await interpreter(version);
  if (signal.aborted) return undefined;
  const child = takeBlank(request.shared, tool);
  assign(child, key, request, options);
  onTaken(child);
  const file = files.place(version, child.code);
  await startVersion({ child, request, runtime, file, tool });
  return child;
}

/** Assigns a blank child to a key: to one identity, for which its job tokens are issued, and to a shared folder. */
function assign(child: Child, key: string, request: RunRequest, options: RunnerOptions): void {
  const { version, permissioned_as, email, shared } = request;
  child.key = key;
  child.tokens = options.tokensFor({ workspace_id: version.workspace_id, permissioned_as, email });
  linkSharedFolder(child, options.directory, shared);
}

/** Returns the whole environment of a child's first job. */
function buildFirstEnvironment({ version, environment }: RunRequest, child: Child): Record<string, string> {
  return { ...parsePairs(version.envs), ...environment, WM_TOKEN: child.token };
}

/**
 * Resolves when the child is ready for its first job.
 * @throws LoadFault, ChildEnded
 */
async function startVersion(start: ColdStart): Promise<void> {
  const { child, request, runtime, file, tool } = start;
  const { version } = request;
  if (version.language === "python3") {
    if (!tool)
      throw new LoadFault({ name: "ExecutionErr", message: describeMissingTool("python3", INSTALL_PYTHON) });
    if (!child.interpreter) turnIntoPython(child, tool.program, runtime).catch(() => {});
  }
  const program = createHostedProgram({ ...start, wrappers: runtime.wrappers });
  child.waiting_with_it = program?.prelude === undefined ? 0 : 1;
  await loadVersion(child, {
    ...fileOf(version, runtime, file),
    display: version.path ? `${version.path}${extension(file)}` : "script",
    root: child.code,
    module: getPythonModuleName(version),
    runtime: runtime.directory,
    parameters: version.parameters,
    preprocessor_parameters: version.preprocessor_parameters,
    environment: buildFirstEnvironment(request, child),
    once: version.isolation === "fresh",
    requests: mayUseNodeHttp(version),
    modules: mayUseModules(version),
    program,
  });
  child.environment = request.environment;
}

/** Whether the script may use `node:http`: it imports the module, or packages that may do so. */
function mayUseNodeHttp({ language, content, lock }: RunnableVersion): boolean {
  return runsInChild(language) && (Boolean(lock?.trim()) || /["'](node:)?https?["']/.test(content));
}

/** Whether the script may use modules of Node, or `process`: it imports something, or has a word that leads to them. */
function mayUseModules({ language, content }: RunnableVersion): boolean {
  return runsInChild(language) && WAYS_TO_MODULES.test(content);
}

function fileOf(
  version: RunnableVersion,
  runtime: RuntimeFiles,
  file: string,
): Pick<Load, "file" | "source"> {
  const query = runtime.queries[version.language];
  return query === undefined ? { file } : { file: query, source: version.content };
}

function extension(file: string): string {
  return file.slice(file.lastIndexOf("."));
}

function parsePairs(envs: string[]): Record<string, string> {
  return Object.fromEntries(
    envs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  );
}
