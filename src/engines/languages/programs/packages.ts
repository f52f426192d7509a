/** Detects what scripts require and do not get: programs of the machine, and packages that cannot be installed. */
import { describeMissingTool, INSTALL_BASH, INSTALL_PYTHON } from "../missing-tool.ts";
import { findAdapter, findRuntimeOfCode } from "./table.ts";

/**
 * Describes the packages that a script requires, as its imports or comments state them, and what to do instead.
 * @returns undefined if the script requires none, or packages of its language are installed
 */
export function describeMissingPackages(language: string, content: string): string | undefined {
  const program = findAdapter(language);
  const packages = program?.packages ? [] : (program?.findPackages(content) ?? []);
  if (packages.length === 0) return undefined;
  const lines = content.split("\n");
  const places = packages.map(
    (name) => `${name} (line ${lines.findIndex((line) => line.includes(name)) + 1})`,
  );
  return `the script requires ${places.join(", ")}, but ${language} scripts have the standard library only: write it without, in a language whose packages are installed (TypeScript, Python), or call a program that is built with them by a bash script`;
}

/** Describes the program that code lacks here, and what to install; undefined if it has it, or needs none. */
export function describeMissingProgram(language: string, content: string): string | undefined {
  const runtime = findRuntimeOfCode(language, content, []);
  const [tool, install] =
    runtime === "python3"
      ? ["python3", INSTALL_PYTHON]
      : runtime === "bash"
        ? ["bash", INSTALL_BASH]
        : listProgram(runtime);
  return tool === undefined || Bun.which(tool, { PATH: process.env.PATH ?? "" })
    ? undefined
    : describeMissingTool(tool, install!);
}

function listProgram(runtime: string | undefined): [tool?: string, install?: string] {
  const adapter = runtime === undefined ? undefined : findAdapter(runtime);
  return adapter ? [adapter.tool, adapter.install] : [];
}
