import { findAdapter, findCompilation } from "../../languages/programs/table.ts";
import { readPythonVersion } from "../packages/package-store.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { RunnableVersion } from "../types.ts";
import { requireStandardLibrary } from "./packages.ts";
import { findTool, type Tool } from "./tools.ts";

/**
 * Finds the program of the machine that runs a script; undefined if it needs none, or if Python is missing.
 * @throws DependencyError if another language's program is missing
 */
export async function findInterpreter(version: RunnableVersion, sandbox: Sandbox): Promise<Tool | undefined> {
  const { language, lock } = version;
  if (language === "python3") {
    const python = await sandbox.python(readPythonVersion(lock));
    return python && { ...python, is_python: true };
  }
  if (!findAdapter(language) || findCompilation(language)) return undefined;
  requireStandardLibrary(version);
  return findTool(language);
}
