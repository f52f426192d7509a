/** Languages whose scripts are, or are run by, a program of the machine: one process per job. */

import { join } from "node:path";
import type { RunnableLanguage } from "../../languages/languages.ts";
import { describeMissingTool, INSTALL_BASH } from "../../languages/missing-tool.ts";
import { findAdapter } from "../../languages/programs/table.ts";
import { type Child, LoadFault } from "../process/child.ts";
import type { HostedProgram } from "../protocol.ts";
import type { RunRequest } from "../types.ts";
import type { Tool } from "./tools.ts";

/** Whether each job runs in its own process below the child. */
export function isHosted(language: RunnableLanguage): boolean {
  return runsProgram(language) && !replacesChild(language);
}

/** Whether a job's program replaces the child process (execve). */
export function replacesChild(language: RunnableLanguage): boolean {
  return findAdapter(language)?.needs_own_entry === true;
}

/** Whether the child itself calls `main`, as for TypeScript. */
export function runsInChild(language: RunnableLanguage): boolean {
  return language === "bun" || language === "nativets";
}

function runsProgram(language: RunnableLanguage): boolean {
  return language === "bash" || findAdapter(language) !== undefined;
}

interface ProgramStart {
  child: Child;
  request: RunRequest;
  /** Path of its source or compiled program, as the child sees it. */
  file: string;
  /** Undefined for bash and compiled scripts. */
  tool: Tool | undefined;
  /** Folder of the programs that call `main`. */
  wrappers: string;
}

/** Returns the program that runs a script; undefined for languages that children run themselves. @throws LoadFault */
export function createHostedProgram({
  child,
  request,
  file,
  tool,
  wrappers,
}: ProgramStart): HostedProgram | undefined {
  const { entrypoint, version } = request;
  if (!runsProgram(version.language)) return undefined;
  if (version.language === "bash") {
    const path = Bun.which("bash");
    if (!path) throw fault(describeMissingTool("bash", INSTALL_BASH));
    return {
      path,
      argv: ["bash", file],
      // Without these variables bash looks up its user, which takes longer than the rest of its start if jobs have
      // their own users.
      environment: { SHELL: path, ...child.base_environment },
      prelude: join(wrappers, "prelude.sh"),
      replaces_child: false,
    };
  }
  if (entrypoint !== "main")
    throw fault(`${version.language} scripts have no functions that can be run by name`);
  if (version.preprocessor_parameters) throw fault(`${version.language} scripts have no preprocessor`);
  const { run } = findAdapter(version.language)!;
  const path = "wrapper" in run ? tool!.program : file;
  const argv = "wrapper" in run ? run.argv(join(wrappers, run.wrapper), file, version.parameters) : [];
  const own = "wrapper" in run ? run.environment : undefined;
  const environment = { LANG: "C.UTF-8", ...own, ...child.base_environment };
  const replaces_child = replacesChild(version.language);
  return { path, argv: [path, ...argv], environment, prelude: undefined, replaces_child };
}

function fault(message: string): LoadFault {
  return new LoadFault({ name: "ExecutionErr", message });
}
