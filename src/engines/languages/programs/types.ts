import type { Parameter } from "../types.ts";

/** How scripts of a language are read, compiled and run by a program of the machine. */
export interface ProgramAdapter {
  /** Extension of source files. */
  extension: string;
  /** Program on the PATH that runs or compiles scripts. */
  tool: string;
  /** What to install if it is missing. */
  install: string;
  /** Arguments by which it prints the folder of its installation on the last line. */
  locate: string[];
  /** Path of the program in that folder; undefined: `locate` prints the whole path on the first line. */
  program?: string;
  /** Returns the parameters of `main`; undefined if there is no such function. */
  parse(content: string): Parameter[] | undefined;
  /** Lists packages that a script requires from an index; they cannot be installed. */
  findPackages(content: string): string[];
  /** Its runtime needs its own entry in /proc, which a child has, and what it starts has not. */
  needs_own_entry?: boolean;
  run:
    | {
        /** Program of the runtime folder, which reads the arguments and calls `main`. */
        wrapper: string;
        /** Returns the interpreter's arguments. */
        argv: (wrapper: string, file: string) => string[];
      }
    | Compilation;
}

/** How a script becomes a program, once per version. */
export interface Compilation {
  /** Files of the runtime folder that are compiled with the script, by their names beside it. */
  wrappers: Record<string, string>;
  /** Returns further files to compile, among them the script. */
  files(content: string, parameters: readonly { name: string }[]): Record<string, string>;
  /** The compiler's arguments; it writes the file `program` to its working folder. */
  argv: string[];
  environment: Record<string, string>;
}
