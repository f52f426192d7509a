/** Which Python runs scripts, and where it keeps its library. */

export interface Python {
  program: string;
  /** What it reads beside its own program. */
  folders: string[];
  /** As `3.11`. */
  version: string;
}

const ASK =
  "import sys; print('\\n'.join([sys.executable, sys.prefix, sys.base_prefix, '%d.%d' % sys.version_info[:2]]))";

/**
 * The Python of a version, such as `3.12`, else the one that is called `python3`. What has such a name may be a program
 * that looks for another one (pyenv, asdf), from folders that scripts do not see: it is asked once, outside of the walls.
 * @returns undefined when there is none at all
 */
export async function findPython(version?: string): Promise<Python | undefined> {
  const exact = version === undefined ? undefined : await ask(`python${version}`);
  return exact ?? (await ask("python3"));
}

async function ask(name: string): Promise<Python | undefined> {
  const found = Bun.which(name);
  if (!found) return undefined;
  const asked = Bun.spawn([found, "-c", ASK], { stdin: "ignore", stdout: "pipe", stderr: "ignore" });
  const answer = (await asked.stdout.text()).trim().split("\n");
  if ((await asked.exited) !== 0 || answer.length !== 4) return undefined;
  const [program, prefix, base, version] = answer as [string, string, string, string];
  const folders = found.startsWith("/usr/bin/") ? [] : [...new Set([prefix, base])];
  return { program, folders, version };
}
