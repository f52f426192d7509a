/** Languages whose scripts take the place of the child and end with the job: they do not speak its protocol. */
import type { RunnableLanguage } from "../../languages/languages.ts";
import { programOf } from "../../languages/programs/table.ts";
import { runShell } from "../process/shell.ts";
import type { RunOutcome } from "../types.ts";
import { type ProgramRun, runProgram } from "./run-program.ts";

export function isStandalone(language: RunnableLanguage): boolean {
  return language === "bash" || programOf(language) !== undefined;
}

/** Runs a script to its exit. @throws LoadFault, ChildEnded */
export function runStandalone(run: ProgramRun): Promise<RunOutcome> {
  return run.request.version.language === "bash" ? runShell(run) : runProgram(run);
}
