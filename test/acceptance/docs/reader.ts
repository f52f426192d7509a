/** A reader who follows a page at a terminal, block by block, in a fresh copy of the project. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SHORT_RUN } from "../../cli/program.ts";
import { startSession } from "../../cli/session.ts";
import { until } from "../../support/harness.ts";
import { ROOT } from "./blocks.ts";

export interface Reader extends Disposable {
  /** The copy of the project. */
  folder: string;
  home: string;
  /** Replacements of addresses and folders on the page by those of the test. */
  here: [page: string, here: string][];
  save: (name: string, text: string) => void;
  /**
   * Runs commands one after the other until one fails, with the variables and folder that the previous block
   * left.
   */
  run: (commands: string, cwd?: string) => Promise<{ code: number; out: string; err: string }>;
  /** Runs commands at a terminal and answers their questions in order. @returns the output */
  type: (commands: string, answers: [question: string, answer: string][]) => Promise<string>;
  /** Runs a long-running command until it has printed the text, then presses Ctrl-C. */
  watch: (commands: string, text: string) => Promise<void>;
}

/** Files of a clone that commands of the pages need. */
const CLONED = ["package.json", "package-lock.json", ".npmrc", "tsconfig.json", "src", "cli"];

export function createReader(): Reader {
  // On a disk, even if temporary files are in memory, because packages can only be linked within a file system.
  const root = mkdtempSync("/tmp/svc-docs-");
  const [folder, home, state] = [join(root, "svc"), join(root, "home"), join(root, "state")];
  for (const made of [folder, home, join(root, "safe")]) mkdirSync(made);
  for (const name of CLONED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  linkPackages(realpathSync(join(ROOT, "node_modules")), join(folder, "node_modules"));
  const reader: Reader = {
    folder,
    home,
    here: [
      ["/mnt/safe", join(root, "safe")],
      ["/var/lib/svc", join(root, "data")],
    ],
    save: (name, text) => writeFileSync(join(folder, name), text),
    async run(commands, cwd = folder) {
      const child = Bun.spawn(["bash", script(commands)], {
        cwd,
        env: environment(),
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      return { code, out, err };
    },
    async type(commands, answers) {
      const place = { folder, environment: environment(), program: ["bash"] };
      using session = startSession(place, [script(commands)]);
      for (const [question, answer] of answers) {
        await session.sees(question);
        session.types(`${answer}\r`);
      }
      const { code, shown } = await session.ended();
      if (code !== 0) throw new Error(`ended with ${code}: ${shown}`);
      return shown;
    },
    async watch(commands, text) {
      const child = Bun.spawn(["bash", script(commands, false)], {
        cwd: folder,
        env: environment(),
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
        // A process group of its own, to which a terminal would send Ctrl-C.
        detached: true,
      });
      const said = [child.stdout, child.stderr].map((stream) => gather(stream));
      const all = () => said.map(({ text }) => text).join("");
      try {
        await until(
          () => {
            if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${all()}`);
            return all().includes(text) || undefined;
          },
          `"${text}"`,
          INSTALL_LIMIT_MS,
        );
      } finally {
        signal(child.pid, "SIGINT");
        await until(() => !signal(child.pid, 0) || undefined, "the end of the processes").catch((cause) => {
          signal(child.pid, "SIGKILL");
          throw cause;
        });
      }
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };

  function environment(): Record<string, string> {
    return {
      PATH: process.env.PATH ?? "",
      HOME: home,
      // Programs that are started here must not use the same port.
      SVC_PORT: "0",
      npm_config_audit: "false",
      npm_config_fund: "false",
      npm_config_update_notifier: "false",
      npm_config_prefer_offline: "true",
      ...SHORT_RUN,
    };
  }

  let count = 0;
  /** @returns the file of a shell script that continues where the last kept one stopped */
  function script(commands: string, isKept = true): string {
    const file = join(root, `block-${++count}.sh`);
    const told = reader.here.reduce((text, [page, here]) => text.replaceAll(page, here), commands);
    writeFileSync(file, [BEFORE(state), ...(isKept ? [AFTER(state)] : []), told].join("\n"));
    return file;
  }
  return reader;
}

/** Some commands install packages first, which takes a minute on a slow machine. */
export const INSTALL_LIMIT_MS = 150_000;

/** Exports every variable to the next block. */
const BEFORE = (state: string) => `set -a
[ ! -f '${state}' ] || . '${state}'
set -eo pipefail`;

const AFTER = (state: string) =>
  `trap 'code=$?; export -p | grep -vE " (PWD|OLDPWD|SHLVL)=" > ${state}; exit $code' EXIT`;

/** Links take no time and space; across file systems the packages are copied. */
function linkPackages(from: string, to: string): void {
  if (Bun.spawnSync(["cp", "-al", from, to], { stderr: "ignore" }).exitCode !== 0) {
    rmSync(to, { recursive: true, force: true });
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  }
  // npm rewrites this file; the original must not change.
  const list = join(to, ".package-lock.json");
  if (!existsSync(list)) return;
  rmSync(list);
  cpSync(join(from, ".package-lock.json"), list);
}

function gather(stream: ReadableStream<Uint8Array>): { text: string } {
  const said = { text: "" };
  const decoder = new TextDecoder();
  void (async () => {
    for await (const bytes of stream) said.text += decoder.decode(bytes, { stream: true });
  })();
  return said;
}

/** @returns whether the group had a process */
function signal(group: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, name);
    return true;
  } catch {
    return false;
  }
}
