/** Locks packages of languages that programs of the machine run or compile, by a program beside the language's tool. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { readOwnFile } from "../../../lib/files/own-file.ts";
import { removeUrlCredentials } from "../../../lib/text/url-credentials.ts";
import type { ProgramLanguage } from "../../languages/languages.ts";
import { describeMissingTool } from "../../languages/missing-tool.ts";
import { findAdapter } from "../../languages/programs/table.ts";
import type { PackageBuild, PackageFolder } from "../../languages/programs/types.ts";
import { DependencyError } from "../../languages/typescript/lock.ts";
import { findNamedPaths, type ToolOutcome, type ToolRequest } from "../packages/tool.ts";
import type { LockOptions } from "../types.ts";
import { findTool, type Tool } from "./tools.ts";

/** Timeout of locking or building the packages of a script, in milliseconds: downloading and compiling all of them. */
export const BUILD_TIMEOUT_MS = 15 * 60_000;
const MAX_LOCK_BYTES = 5_000_000;

/** Runs a package client: its path, environment, further files, and the files that it reads. */
interface BuildTool extends Pick<ToolRequest, "program" | "environment" | "files" | "read"> {
  /** The language's own tool. */
  interpreter: Tool;
}

/**
 * Finds the tools that lock and compile the packages of a language.
 * @throws DependencyError that says what to install
 */
export async function findBuildTool(
  language: ProgramLanguage,
  build: PackageBuild | PackageFolder,
): Promise<BuildTool> {
  const tool = await findTool(language);
  const program = findClient(build, tool);
  if (program === undefined) {
    throw new DependencyError(describeMissingTool(build.tool, build.install));
  }
  const inherited: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && build.inherited.test(name)) inherited[name] = removeUrlCredentials(value);
  }
  const files: Record<string, string> = {};
  const { settings } = build;
  if (settings) {
    const folder = process.env[settings.variable] ?? join(homedir(), settings.folder);
    const text = await readFile(join(folder, settings.file), "utf8").catch(() => undefined);
    if (text !== undefined)
      files[`${settings.folder}/${settings.file}`] = readSettings(build.tool, text, settings);
  }
  const sources = findSourcePaths([...Object.values(inherited), ...Object.values(files)]);
  const named = findNamedPaths([program, ...Object.values(inherited), ...sources], inherited);
  const read = [...tool.folders, ...named];
  const environment = { ...build.environment(tool.program), ...inherited };
  return { interpreter: tool, program, environment, files, read };
}

/** Looks beside the language's tool, and for a client that the tool runs as a script on the PATH too. */
function findClient(build: PackageBuild | PackageFolder, tool: Tool): string | undefined {
  const beside = join(dirname(tool.program), build.tool);
  if (existsSync(beside)) return beside;
  return "folder" in build
    ? (Bun.which(build.tool, { PATH: process.env.PATH ?? "" }) ?? undefined)
    : undefined;
}

/** Returns the settings of a tool without secrets. @throws DependencyError without the text, which may hold secrets */
function readSettings(tool: string, text: string, settings: NonNullable<PackageBuild["settings"]>): string {
  try {
    return settings.toPublic(text);
  } catch {
    throw new DependencyError(`the ${settings.file} of this server's ${tool} is invalid`);
  }
}

/** Lists the paths of this machine in texts of settings: quoted ones, and those of `file:` URLs. */
function findSourcePaths(settings: string[]): string[] {
  return [...settings.join("\n").matchAll(/(?:file:\/\/|")(\/[^\s",|]+)/g)].map(([, path]) => path!);
}

/** Resolves what scripts of a language require. @returns the lock's text @throws DependencyError */
export async function lockProgramPackages(
  { language, manifest }: { language: ProgramLanguage; manifest: string },
  runTool: (request: ToolRequest) => Promise<ToolOutcome>,
  options: LockOptions,
): Promise<string> {
  const build = findAdapter(language)!.packages!;
  const tool = await findBuildTool(language, build);
  const results: string[] = [];
  const { interpreter, ...client } = tool;
  const [program, ...argv] = build.lock.command(tool.program, interpreter.program);
  await runClient(runTool, language, build, "resolved", {
    ...client,
    program,
    argv,
    files: { ...tool.files, ...build.lock.files(manifest) },
    ...options,
    async collect(folder) {
      for (const name of build.lock.results) {
        results.push((await readOwnFile(join(folder, name), MAX_LOCK_BYTES))?.bytes?.toString() ?? "");
      }
    },
  });
  return build.lock.toText(results);
}

/**
 * Runs a package client.
 * @param aim what becomes of the packages, for messages
 * @throws DependencyError with its last messages
 */
export async function runClient(
  runTool: (request: ToolRequest) => Promise<ToolOutcome>,
  language: string,
  { tool, advice }: PackageBuild | PackageFolder,
  aim: "resolved" | "installed",
  request: Omit<ToolRequest, "name" | "kind" | "timeout_ms">,
): Promise<void> {
  let output = "";
  const outcome = await runTool({
    ...request,
    name: `${tool}, by which ${language} packages are ${aim},`,
    kind: "package_client",
    timeout_ms: BUILD_TIMEOUT_MS,
    onLog(text) {
      output += text;
      request.onLog(text);
    },
  });
  if ("stopped" in outcome) throw new DependencyError(outcome.stopped.message);
  if (outcome.exit.code === 0) return;
  const said = output.split("\n").map((line) => line.trim());
  const reason = said.filter((line) => !/^(Caused by:)?$/.test(line) && !advice?.test(line)).slice(-6);
  throw new DependencyError(
    `${language} packages could not be ${aim}: ${reason.join("; ") || `${tool} printed no error`}`,
  );
}
