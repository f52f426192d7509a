import type { Parameter, ParameterBinding } from "../types.ts";

/** How scripts of a language are parsed, compiled and run by a program of the machine. */
export interface ProgramAdapter {
  /** Extension of source files. */
  extension: string;
  /** Program on the PATH that runs or compiles scripts. */
  tool: string;
  /** What to install if the program is missing. */
  install: string;
  /**
   * Arguments with which the program prints its installation folder, on the last line; with three lines or more, these
   * are its own path, its version, and one folder or file that it reads a line.
   */
  locate: string[];
  /** Path of the program in that folder; undefined: `locate` prints the full path on the first line. */
  program?: string;
  /** How the syntax is checked without running anything; undefined: the program reports errors when the script runs. */
  syntax_check?: SyntaxCheck;
  /** Matches what the compiler calls the script's own file in its messages. */
  source_name?: RegExp;
  /** Returns the parameters of `main`; undefined if there is no such function. */
  parse(content: string): Parameter[] | undefined;
  /** Lists packages that a script requires from an index. */
  findPackages(content: string): string[];
  /** How they get to a script that requires some: compiled in, or from a folder. Undefined: they cannot be installed. */
  packages?: PackageBuild | PackageFolder;
  /**
   * Whether the runtime needs its own process entry in /proc. A child has one, but processes that it starts do not.
   */
  needs_own_entry?: boolean;
  run:
    | {
        /** Program in the runtime folder that parses the arguments and calls `main`. */
        wrapper: string;
        /** Returns the interpreter's arguments. */
        argv: (wrapper: string, file: string, parameters: readonly ParameterBinding[]) => string[];
        environment?: Record<string, string>;
      }
    | Compilation;
}

/** A command that parses what it reads from standard input. */
export interface SyntaxCheck {
  command: [tool: string, ...argv: string[]];
  /** Matches the first error in what it prints: groups `line`, `message` and, if it tells it, `column`. */
  error: RegExp;
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

/** How packages of an index are locked. */
interface PackageClient {
  /** Program in the folder of the language's tool. */
  tool: string;
  /** What to install if it is missing. */
  install: string;
  /** Matches lines of its messages that do not say what failed. */
  advice?: RegExp;
  /** Variables of the server's environment that tell where packages come from. It gets their URLs without users. */
  inherited: RegExp;
  /** The operator's own settings of the tool, of which it gets some. */
  settings?: {
    /** Variable that names their folder, and that folder below a home folder. */
    variable: string;
    folder: string;
    file: string;
    /** Returns what scripts may see of the file. */
    toPublic(text: string): string;
  };
  /** Returns the environment variables of the compiler. @param tool path of the language's tool */
  environment(tool: string): Record<string, string>;
  /** Returns what a script requires, in a form that is equal for scripts that require the same. */
  toManifest(content: string): string;
  lock: {
    /** Returns the files to resolve a manifest from. */
    files(manifest: string): Record<string, string>;
    /**
     * Returns the command that resolves or compiles the packages.
     * @param program path of the client
     * @param interpreter path of the language's tool
     */
    command(program: string, interpreter: string): [program: string, ...argv: string[]];
    /** Files that the resolved versions are in. */
    results: string[];
    /** Returns the lock's text. @param results contents of the files, "" for a missing one */
    toText(results: string[]): string;
  };
}

/** How packages are compiled with a script to the file `program`. */
export interface PackageBuild extends PackageClient {
  /** Files of the runtime folder that are compiled with the script, by their names beside it. */
  wrappers: Record<string, string>;
  /** Returns further files to compile, among them the script. @param lock undefined: versions are resolved now */
  files(
    content: string,
    parameters: readonly { name: string }[],
    lock: string | undefined,
  ): Record<string, string>;
  command(program: string): [program: string, ...argv: string[]];
}

/** How packages are installed to a folder, which all scripts with the same lock read. */
export interface PackageFolder extends PackageClient {
  /** Name of the folder that is made in the folder `made`, and of the link to it beside a script's source. */
  folder: string;
  /** Returns the files to install from. @param lock undefined: versions are resolved now */
  files(manifest: string, lock: string | undefined): Record<string, string>;
  /**
   * Returns the command that resolves or installs the packages.
   * @param program path of the client
   * @param interpreter path of the language's tool
   */
  command(program: string, interpreter: string): [program: string, ...argv: string[]];
}
