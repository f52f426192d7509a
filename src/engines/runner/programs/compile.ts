/** Compiles script versions, once each, with the sandbox and limits of jobs. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { BadRequest } from "../../../lib/errors.ts";
import { readOwnFile } from "../../../lib/files/own-file.ts";
import type { ProgramLanguage } from "../../languages/languages.ts";
import { findAdapter, findCompilation, findPackageBuild } from "../../languages/programs/table.ts";
import { PROGRAM_FILE } from "../files/source-tree.ts";
import type { ToolOutcome, ToolRequest } from "../packages/tool.ts";
import type { RunnableVersion } from "../types.ts";
import { BUILD_TIMEOUT_MS, findBuildTool } from "./build.ts";
import { requireStandardLibrary } from "./packages.ts";
import { findTool } from "./tools.ts";

const TIMEOUT_MS = 5 * 60_000;
const MAX_PROGRAM_BYTES = 50_000_000;

/** The compiler rejected the script. */
class CompileError extends BadRequest {
  override readonly name = "CompileError";
}

/**
 * Compiles a script version to a program.
 * @param wrappers folder of files to compile with scripts
 * @param signal aborts the compilation, or waiting for it
 * @returns the program
 * @throws CompileError with the compiler's messages; DependencyError
 */
export async function compileScript(
  version: RunnableVersion,
  wrappers: string,
  runTool: (request: ToolRequest) => Promise<ToolOutcome>,
  signal: AbortSignal,
): Promise<Buffer> {
  const plan = await planCompilation(version);
  for (const [name, source] of Object.entries(plan.wrappers)) {
    plan.request.files[name] = await readFile(join(wrappers, source), "utf8");
  }
  let output = "";
  let program: Buffer | undefined;
  const request: ToolRequest = {
    ...plan.request,
    name: `the compiler of ${version.language}`,
    kind: "compiler",
    owner: version.workspace_id,
    signal,
    onLog: (text) => {
      output += text;
    },
    async collect(folder) {
      program = (await readOwnFile(join(folder, PROGRAM_FILE), MAX_PROGRAM_BYTES))?.bytes;
    },
  };
  const outcome = await runTool(request);
  if ("stopped" in outcome) throw new CompileError(outcome.stopped.message);
  if (program === undefined) {
    throw new CompileError(
      `the script could not be compiled:\n${nameSource(version, output.trim()) || "the compiler printed no error"}`,
    );
  }
  return program;
}

/** Names the script's file in the compiler's messages by the script's path. */
function nameSource({ language, path = "script" }: RunnableVersion, messages: string): string {
  const { extension, source_name } = findAdapter(language)!;
  return source_name ? messages.replace(source_name, () => `${path}.${extension}`) : messages;
}

interface Plan {
  /** Files of the runtime folder to compile with the script. */
  wrappers: Record<string, string>;
  request: Pick<ToolRequest, "program" | "argv" | "environment" | "files" | "read" | "timeout_ms">;
}

/**
 * Plans how to compile a version. If it requires packages, their build tool compiles it, with the versions of its
 * lock.
 */
async function planCompilation(version: RunnableVersion): Promise<Plan> {
  const { language, content, parameters, lock } = version;
  const build = findPackageBuild(language, content);
  if (build) {
    const { interpreter: _, ...tool } = await findBuildTool(language as ProgramLanguage, build);
    const files = { ...tool.files, ...build.files(content, parameters, lock) };
    const [program, ...argv] = build.command(tool.program);
    const request = { ...tool, program, argv, files, timeout_ms: BUILD_TIMEOUT_MS };
    return { wrappers: build.wrappers, request };
  }
  const compilation = findCompilation(language)!;
  requireStandardLibrary(version);
  const { program, folders } = await findTool(language);
  const { argv, environment } = compilation;
  const files = compilation.files(content, parameters);
  const request = { program, argv, environment, files, read: folders, timeout_ms: TIMEOUT_MS };
  return { wrappers: compilation.wrappers, request };
}
