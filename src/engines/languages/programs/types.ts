import type { Parameter } from "../types.ts";

/** How scripts of a language are parsed, compiled and run by a program of the machine. */
export interface ProgramAdapter {
  /** Extension of source files. */
  extension: string;
  /** Program on the PATH that runs or compiles scripts. */
  tool: string;
  /** What to install if the program is missing. */
  install: string;
  /** Arguments with which the program prints its installation folder, on the last line. */
  locate: string[];
  /** Path of the program in that folder; undefined: `locate` prints the full path on the first line. */
  program?: string;
  /** Returns the parameters of `main`; undefined if there is no such function. */
  parse(content: string): Parameter[] | undefined;
  /** Lists required packages, which cannot be installed. */
  findPackages(content: string): string[];
  /**
   * Whether the runtime needs its own process entry in /proc. A child has one, but processes that it starts do not.
   */
  needs_own_entry?: boolean;
  run:
    | {
        /** Program in the runtime folder that parses the arguments and calls `main`. */
        wrapper: string;
        /** Returns the interpreter's arguments. */
        argv: (wrapper: string, file: string) => string[];
      }
    | Compilation;
}

/** How a version of a script is compiled, once. */
export interface Compilation {
  /** Files of the runtime folder that are compiled with the script, with their file names beside it. */
  wrappers: Record<string, string>;
  /** Returns the files to compile, including the script. */
  files(content: string, parameters: readonly { name: string }[]): Record<string, string>;
  /** Arguments of the compiler, which writes the file `program` to its working folder. */
  argv: string[];
  environment: Record<string, string>;
}
