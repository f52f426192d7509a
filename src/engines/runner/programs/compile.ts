/** Compiles script versions, once each, with the sandbox and limits of jobs. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createSlots } from "../../../lib/async/slots.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { compilationOf } from "../../languages/programs/table.ts";
import { PROGRAM_FILE } from "../files/source-tree.ts";
import type { ToolOutcome, ToolRequest } from "../packages/tool.ts";
import { readOwnFile } from "../process/result-file.ts";
import type { RunnableVersion } from "../types.ts";
import { requireStandardLibrary } from "./packages.ts";
import { findTool } from "./tools.ts";

const TIMEOUT_MS = 5 * 60_000;
const MAX_PROGRAM_BYTES = 50_000_000;
/** A compiler uses a whole core and much memory, so only one runs at a time. */
const compilers = createSlots(1);

/** The compiler rejected the script. */
class CompileError extends BadRequest {
  override readonly name = "CompileError";
}

/**
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
  const compilation = compilationOf(version.language)!;
  requireStandardLibrary(version);
  const tool = await findTool(version.language);
  const files = compilation.files(version.content, version.parameters);
  for (const [name, source] of Object.entries(compilation.wrappers)) {
    files[name] = await readFile(join(wrappers, source), "utf8");
  }
  let output = "";
  let program: Buffer | undefined;
  const request: ToolRequest = {
    name: `the compiler of ${version.language}`,
    program: tool.program,
    argv: compilation.argv,
    environment: compilation.environment,
    files,
    read: tool.folders,
    timeout_ms: TIMEOUT_MS,
    signal,
    onLog: (text) => {
      output += text;
    },
    async collect(folder) {
      program = (await readOwnFile(join(folder, PROGRAM_FILE), MAX_PROGRAM_BYTES))?.bytes;
    },
  };
  const outcome = await runInTurn(request, runTool, signal);
  if ("stopped" in outcome) throw new CompileError(outcome.stopped.message);
  if (program === undefined) {
    throw new CompileError(
      `the script could not be compiled:\n${output.trim() || "the compiler said nothing"}`,
    );
  }
  return program;
}

async function runInTurn(
  request: ToolRequest,
  runTool: (request: ToolRequest) => Promise<ToolOutcome>,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const release = await compilers.acquire(signal);
  try {
    if (signal.aborted) return { stopped: { name: "Canceled", message: `${request.name} was not started` } };
    return await runTool(request);
  } finally {
    release();
  }
}
