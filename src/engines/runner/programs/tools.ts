/** Finds the programs of the machine that run or compile scripts. */

import { join } from "node:path";
import { Cache } from "../../../lib/async/cache.ts";
import { describeMissingTool } from "../../languages/missing-tool.ts";
import { findAdapter } from "../../languages/programs/table.ts";
import { DependencyError } from "../../languages/typescript/lock.ts";
import { isPathWithin } from "../sandbox/isolation/paths.ts";

export interface Tool {
  program: string;
  /** Folders and files it reads beside the system's. */
  folders: string[];
  /** Version that packages are installed for, if its packages are in folders. */
  version?: string | undefined;
  /** Whether it is Python: then the child becomes the interpreter and serves several jobs. */
  is_python?: boolean;
}

const found = new Cache<Tool>({ max: 100 });

/**
 * Finds the program of a language. The command may be a shim (rustup, rbenv) that needs folders hidden from scripts,
 * so it is asked for its installation folder once, outside of the sandbox.
 * @throws DependencyError that says what to install
 */
export async function findTool(language: string): Promise<Tool> {
  const { PATH = "" } = process.env;
  const key = `${language}\n${PATH}`;
  return found.get(key) ?? found.load(key, () => locateTool(language, PATH));
}

async function locateTool(language: string, PATH: string): Promise<Tool> {
  const { tool, install, locate, program } = findAdapter(language)!;
  // Without the option it searches the PATH that the process was started with.
  const path = Bun.which(tool, { PATH });
  if (!path) throw new DependencyError(describeMissingTool(tool, install));
  const asked = Bun.spawn([path, ...locate], { stdin: "ignore", stdout: "pipe", stderr: "ignore" });
  const lines = (await asked.stdout.text()).trim().split("\n");
  const folders = lines.slice(lines.length > 2 ? 2 : -1);
  if ((await asked.exited) !== 0 || !folders.every((folder) => folder.startsWith("/"))) {
    throw new DependencyError(`${path} does not say where it is installed: ${install}`);
  }
  return {
    program: program === undefined ? lines[0]! : join(folders[0]!, program),
    folders: folders.filter((folder) => !isPathWithin(folder, "/usr")),
    version: lines.length > 2 ? lines[1] : undefined,
  };
}
