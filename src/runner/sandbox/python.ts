/** Which Python runs scripts, and where it keeps its library. */

export interface Python {
  program: string;
  /** What it reads beside its own program. */
  folders: string[];
}

const ASK = "import sys; print('\\n'.join([sys.executable, sys.prefix, sys.base_prefix]))";

/**
 * What is called `python3` may be a program that looks for another one (pyenv, asdf), from folders that scripts do not
 * see: it is asked once, outside of the walls.
 * @returns undefined when there is none
 */
export async function findPython(): Promise<Python | undefined> {
  const found = Bun.which("python3");
  if (!found) return undefined;
  if (found.startsWith("/usr/bin/")) return { program: found, folders: [] };
  const asked = Bun.spawn([found, "-c", ASK], { stdin: "ignore", stdout: "pipe", stderr: "ignore" });
  const answer = (await asked.stdout.text()).trim().split("\n");
  if ((await asked.exited) !== 0 || answer.length !== 3) return { program: found, folders: [] };
  const [program, ...folders] = answer as [string, ...string[]];
  return { program, folders: [...new Set(folders)] };
}
