/** A blank child becomes a script version: what it is told for that. */

import type { RuntimeFiles } from "../files/runtime-files.ts";
import { share } from "../files/shared-folder.ts";
import { moduleName } from "../files/source-tree.ts";
import { type Child, LoadFault, loadVersion } from "../process/child.ts";
import type { Exec, Load } from "../protocol.ts";
import type { RunnableVersion, RunnerOptions, RunRequest } from "../types.ts";

interface ColdStart {
  child: Child;
  request: RunRequest;
  runtime: RuntimeFiles;
  /** Path of its source, as the child reads it. */
  file: string;
  /** The Python that the script runs in, if there is one. */
  python: string | undefined;
}

/** Makes a blank child one of a key: for one identity, whose tokens its jobs have, and with the folder that they share. */
export function assign(child: Child, key: string, request: RunRequest, options: RunnerOptions): void {
  const { version, permissioned_as, email, shared } = request;
  child.key = key;
  child.tokens = options.tokensFor({ workspace_id: version.workspace_id, permissioned_as, email });
  share(child, options.directory, shared);
}

/** Everything that the environment of a child's first job holds. */
export function firstEnvironment({ version, environment }: RunRequest, child: Child): Record<string, string> {
  return { ...pairs(version.envs), ...environment, WM_TOKEN: child.token };
}

/**
 * Resolves when the child can take its first job.
 * @throws LoadFault, ChildEnded
 */
export async function startVersion({ child, request, runtime, file, python }: ColdStart): Promise<void> {
  const { version } = request;
  await loadVersion(
    child,
    {
      ...fileOf(version, runtime, file),
      display: version.path ? `${version.path}${extension(file)}` : "script",
      root: child.code,
      module: moduleName(version),
      runtime: runtime.directory,
      parameters: version.parameters,
      preprocessor_parameters: version.preprocessor_parameters,
      environment: firstEnvironment(request, child),
      once: version.isolation === "fresh",
      requests: mayRequest(version),
    },
    version.language === "python3" ? pythonExec(child, runtime, python) : undefined,
  );
  child.environment = request.environment;
}

/** Imports of the module itself, or of packages, which may have it. */
function mayRequest({ language, content, lock }: RunnableVersion): boolean {
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

/** @throws LoadFault when there is no Python */
function pythonExec(child: Child, runtime: RuntimeFiles, program: string | undefined): Exec {
  if (!program) {
    throw new LoadFault({ name: "ExecutionErr", message: "python3 is not installed on this server" });
  }
  return {
    t: "exec",
    program,
    argv: [program, "-u", runtime.python],
    environment: { LANG: "C.UTF-8", ...child.base },
    keep_channel: true,
  };
}

function extension(file: string): string {
  return file.slice(file.lastIndexOf("."));
}

function pairs(envs: string[]): Record<string, string> {
  return Object.fromEntries(
    envs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  );
}
