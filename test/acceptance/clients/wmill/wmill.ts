/** `wmill`, installed from the registry into a temporary folder and run by Bun. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SHORT_RUN } from "../../../cli/program.ts";

export interface CommandResult {
  code: number;
  /** Output of both streams, without colors. */
  text: string;
}

export interface Wmill extends AsyncDisposable {
  /** The file that bun runs. */
  main: string;
  /** A new folder to work in. */
  folder: (name: string) => Promise<string>;
  /** Runs a command in a folder, as the user that the folder is configured for. */
  run: (folder: string, args: string[]) => Promise<CommandResult>;
  /** Runs a command that must succeed. @returns its output */
  ok: (folder: string, args: string[]) => Promise<string>;
}

/** The version closest to the contract that the registry has, and the current one. */
export const VERSIONS = ["1.596.0", "1.819.0"];

/** Returns the number of differences that a sync reports. */
export const changesIn = (said: string): number => Number(/: (\d+) changes? to apply/.exec(said)?.[1]);

/** @param version of the package `windmill-cli` */
export async function installWmill(version: string): Promise<Wmill> {
  const root = mkdtempSync(join(tmpdir(), "svc-wmill-"));
  await Bun.write(join(root, "package.json"), JSON.stringify({ dependencies: { "windmill-cli": version } }));
  const installed = await ended(root, [process.execPath, "install", "--ignore-scripts", "--no-save"], {
    ...process.env,
  });
  if (installed.code !== 0) throw new Error(`windmill-cli ${version} cannot be installed: ${installed.text}`);
  const manifest = join(root, "node_modules/windmill-cli/package.json");
  const { bin } = await Bun.file(manifest).json();
  const main = join(dirname(manifest), bin.wmill);
  const environment = {
    PATH: process.env.PATH ?? "",
    HOME: root,
    NO_COLOR: "1",
    // wmill derives the workspace from the branch of a git repository; no folder above these may be one.
    GIT_CEILING_DIRECTORIES: root,
    ...SHORT_RUN,
  };
  const run: Wmill["run"] = (folder, args) => ended(folder, [process.execPath, main, ...args], environment);
  return {
    main,
    async folder(name) {
      const path = join(root, name);
      await Bun.write(join(path, "wmill.yaml"), CONFIGURATION);
      return path;
    },
    run,
    async ok(folder, args) {
      const { code, text } = await run(folder, args);
      if (code !== 0) throw new Error(`wmill ${args.join(" ")}: ${code}\n${text}`);
      return text;
    },
    async [Symbol.asyncDispose]() {
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const CONFIGURATION = 'defaultTs: bun\nincludes:\n  - "**"\nexcludes: []\n';

async function ended(
  cwd: string,
  command: string[],
  env: Record<string, string | undefined>,
): Promise<CommandResult> {
  const child = Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, text: Bun.stripANSI(out + err) };
}
