/** Loads a script version into a blank child. */

import type { RuntimeFiles } from "../files/runtime-files.ts";
import { linkSharedFolder } from "../files/shared-folder.ts";
import { pythonModuleName } from "../files/source-tree.ts";
import { type Child, LoadFault, loadVersion } from "../process/child.ts";
import { becomePython } from "../process/interpreter.ts";
import { createHostedProgram } from "../programs/hosted.ts";
import type { Tool } from "../programs/tools.ts";
import type { Load } from "../protocol.ts";
import type { RunnableVersion, RunnerOptions, RunRequest } from "../types.ts";

interface ColdStart {
  child: Child;
  request: RunRequest;
  runtime: RuntimeFiles;
  /** Path of its source as the child sees it. */
  file: string;
  /** Program of the machine that runs it, if any does. */
  tool: Tool | undefined;
}

/** Makes a blank child one of a key: for one identity, whose tokens its jobs have, and with the folder that they share. */
export function assign(child: Child, key: string, request: RunRequest, options: RunnerOptions): void {
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
export async function startVersion(start: ColdStart): Promise<void> {
  const { child, request, runtime, file, tool } = start;
  const { version } = request;
  if (version.language === "python3") {
    if (!tool)
      throw new LoadFault({ name: "ExecutionErr", message: "python3 is not installed on this server" });
    if (!child.interpreter) becomePython(child, tool.program, runtime).catch(() => {});
  }
  await loadVersion(child, {
    ...fileOf(version, runtime, file),
    display: version.path ? `${version.path}${extension(file)}` : "script",
    root: child.code,
    module: pythonModuleName(version),
    runtime: runtime.directory,
    parameters: version.parameters,
    preprocessor_parameters: version.preprocessor_parameters,
    environment: buildFirstEnvironment(request, child),
    once: version.isolation === "fresh",
    requests: mayUseNodeHttp(version),
    program: createHostedProgram({ ...start, wrappers: runtime.wrappers }),
  });
  child.environment = request.environment;
}

/** Whether the script may use `node:http`: it imports the module, or packages that may do so. */
function mayUseNodeHttp({ language, content, lock }: RunnableVersion): boolean {
  const isScript = language === "bun" || language === "nativets";
  return isScript && (Boolean(lock?.trim()) || /["'](node:)?https?["']/.test(content));
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
