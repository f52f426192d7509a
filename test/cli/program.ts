/** Runs the real program from its source, in a temporary folder, with nothing of this process's environment. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAIN = join(import.meta.dir, "../../cli/main.ts");

export interface Ended {
  code: number;
  out: string;
  err: string;
}

export interface RunOptions {
  stdin?: string;
  env?: Record<string, string>;
}

export interface Place extends Disposable {
  folder: string;
  data_dir: string;
  environment: Record<string, string>;
  /** The words that start the program, to be followed by its arguments. */
  program: string[];
  /** Writes a file into the folder. @returns its name */
  file: (name: string, content: string) => Promise<string>;
  /** Runs a command to its end; there is no terminal, and stdin is empty unless given. */
  svc: (args: string[], options?: RunOptions) => Promise<Ended>;
}

export function newPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), "svc-cli-"));
  const data_dir = join(folder, "data");
  const environment = { PATH: process.env.PATH ?? "", HOME: folder, SVC_DATA_DIR: data_dir };
  const program = [process.execPath, MAIN];
  return {
    folder,
    data_dir,
    environment,
    program,
    async file(name, content) {
      await Bun.write(join(folder, name), content);
      return name;
    },
    async svc(args, { stdin, env } = {}) {
      const child = Bun.spawn([...program, ...args], {
        cwd: folder,
        env: { ...environment, ...env },
        stdin: stdin === undefined ? "ignore" : new TextEncoder().encode(stdin),
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      return { code, out, err };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** An error as a person reads it. */
export function told(error: string, hint?: string): string {
  return `error: ${error}\n${hint ? `hint: ${hint}\n` : ""}`;
}
