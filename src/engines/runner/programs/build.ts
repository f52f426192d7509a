/** Locks packages of compiled languages, and compiles with them, by a program beside the language's tool. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { removeUrlCredentials } from "../../../lib/text/url-credentials.ts";
import type { ProgramLanguage } from "../../languages/languages.ts";
import { programOf } from "../../languages/programs/table.ts";
import type { PackageBuild } from "../../languages/programs/types.ts";
import { DependencyError } from "../../languages/typescript/lock.ts";
import type { ToolOutcome, ToolRequest } from "../packages/tool.ts";
import { readOwnFile } from "../process/result-file.ts";
import type { LockOptions } from "../types.ts";
import { findTool } from "./tools.ts";

/** Packages are downloaded meanwhile, and all of them compiled. */
export const BUILD_TIMEOUT_MS = 15 * 60_000;
const MAX_LOCK_BYTES = 5_000_000;

/** What runs the program of a build: its path, environment, further files, and the folders it reads. */
type BuildTool = Pick<ToolRequest, "program" | "environment" | "files" | "read">;

/** @throws DependencyError that says what to install */
export async function findBuildTool(language: ProgramLanguage, build: PackageBuild): Promise<BuildTool> {
  const tool = await findTool(language);
  const program = join(dirname(tool.program), build.tool);
  if (!existsSync(program)) {
    throw new DependencyError(`${build.tool} is not installed on this server: ${build.install}`);
  }
  const environment = build.environment(tool.program);
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && build.inherited.test(name)) environment[name] = removeUrlCredentials(value);
  }
  const files: Record<string, string> = {};
  const { settings } = build;
  if (settings) {
    const folder = process.env[settings.variable] ?? join(homedir(), settings.folder);
    const text = await readFile(join(folder, settings.file), "utf8").catch(() => undefined);
    if (text !== undefined)
      files[`${settings.folder}/${settings.file}`] = readSettings(build.tool, text, settings);
  }
  return { program, environment, files, read: [...tool.folders, ...listFolders(environment, files)] };
}

/** @throws DependencyError without the text, which may hold secrets */
function readSettings(tool: string, text: string, settings: NonNullable<PackageBuild["settings"]>): string {
  try {
    return settings.toPublic(text);
  } catch {
    throw new DependencyError(`the ${settings.file} of this server's ${tool} is invalid`);
  }
}

/** Lists the folders of this machine that settings name as sources of packages. */
function listFolders(...settings: Record<string, string>[]): string[] {
  const text = settings.flatMap((each) => Object.values(each)).join("\n");
  const named = [...text.matchAll(/(?:file:\/\/|")(\/[^\s",|]+)/g)].map(([, path]) => path!);
  return named.filter((path) => existsSync(path));
}

/** Resolves what scripts of a language require. @returns the lock's text @throws DependencyError */
export async function lockProgramPackages(
  { language, manifest }: { language: ProgramLanguage; manifest: string },
  runTool: (request: ToolRequest) => Promise<ToolOutcome>,
  options: LockOptions,
): Promise<string> {
  const build = programOf(language)!.packages!;
  const tool = await findBuildTool(language, build);
  const results: string[] = [];
  const [program, ...argv] = build.lock.command(tool.program);
  const outcome = await runTool({
    ...tool,
    name: `${build.tool}, which resolves packages,`,
    kind: "package_client",
    program,
    argv,
    files: { ...tool.files, ...build.lock.files(manifest) },
    timeout_ms: BUILD_TIMEOUT_MS,
    ...options,
    async collect(folder) {
      for (const name of build.lock.results) {
        results.push(
          String((await readOwnFile(join(folder, name), MAX_LOCK_BYTES))?.bytes?.toString() ?? ""),
        );
      }
    },
  });
  if ("stopped" in outcome) throw new DependencyError(outcome.stopped.message);
  if (outcome.exit.code !== 0) {
    const said = outcome.lastLines.split("\n").map((line) => line.trim());
    const reason = said.filter((line) => line !== "" && line !== "Caused by:").slice(-6);
    throw new DependencyError(
      `${language} packages could not be resolved: ${reason.join("; ") || `${build.tool} said nothing`}`,
    );
  }
  return build.lock.toText(results);
}
