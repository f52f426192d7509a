/** Turns launch plans into commands. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CommonSpec,
  createCommonCalls,
  createLaunchPlan,
  type LaunchCall,
  type LaunchPlan,
  type LaunchSpec,
} from "./launch-plan.ts";
import { type CommonCalls, createLaunchProgram, encodeCommonCalls } from "./launch-program.ts";
import { type Architecture, SYSCALLS } from "./syscalls.ts";

export interface Launcher {
  /**
   * Returns the command that restricts itself and becomes a program.
   * @param file path of the launch program, or of the plan where none can be executed, which this writes
   * @throws system errors
   */
  commandFor(spec: LaunchSpec, file: string): string[];
}

/**
 * Creates the launcher for children with the same common restrictions.
 * @param folder where launch programs are tried out
 * @param fallback program that carries out a plan where launch programs cannot be executed
 */
export function createLauncher(
  spec: CommonSpec,
  architecture: Architecture,
  folder: string,
  fallback: string,
): Launcher {
  const common = createCommonCalls(spec);
  let encoded: CommonCalls | undefined;
  let executes: boolean | undefined;
  return {
    commandFor(own, file) {
      const plan = createLaunchPlan(spec, own);
      executes ??= canExecuteIn(folder, architecture);
      if (!executes) {
        writeFileSync(file, JSON.stringify({ common, ...plan }), { mode: 0o600 });
        return [process.execPath, "--no-install", fallback, file];
      }
      encoded ??= encodeCommonCalls(common, architecture);
      writeFileSync(file, createLaunchProgram(encoded, plan), { mode: 0o700 });
      return [file];
    },
  };
}

/** Error codes of programs that may not or cannot be executed. */
const NOT_EXECUTABLE = new Set(["EACCES", "EPERM", "ENOEXEC"]);

/**
 * Whether launch programs can be executed in a folder: its file system may be mounted `noexec`.
 * @throws other system errors, such as a lack of memory
 */
function canExecuteIn(folder: string, architecture: Architecture): boolean {
  const { exit_group, execve } = SYSCALLS[architecture];
  const exit: LaunchCall = { number: exit_group, name: "exit_group", operands: [0] };
  const plan: LaunchPlan = { own: [exit], execve, command: [folder] };
  const file = join(folder, "launch-check");
  try {
    const program = createLaunchProgram(encodeCommonCalls([], architecture), plan);
    writeFileSync(file, program, { mode: 0o700 });
    return Bun.spawnSync([file]).exitCode === 0;
  } catch (cause) {
    if (NOT_EXECUTABLE.has((cause as { code?: string }).code ?? "")) return false;
    throw cause;
  } finally {
    rmSync(file, { force: true });
  }
}
