/** Finds the Python for scripts and its library folders. */

export interface Python {
  program: string;
  /** Folders it reads beside its program. */
  folders: string[];
  /** Such as `3.11`. */
  version: string;
}

const QUERY_SCRIPT =
  "import sys; print('\\n'.join([sys.executable, sys.prefix, sys.base_prefix, '%d.%d' % sys.version_info[:2]]))";

/**
 * Finds Python of a version such as `3.12`, else `python3`. The command may be a shim (pyenv, asdf) that needs folders
 * hidden from scripts, so it is queried once outside of the sandbox.
 * @returns undefined if there is none
 */
export async function findPython(version?: string): Promise<Python | undefined> {
  const exact = version === undefined ? undefined : await queryPython(`python${version}`);
  return exact ?? (await queryPython("python3"));
}

async function queryPython(name: string): Promise<Python | undefined> {
  const found = Bun.which(name);
  if (!found) return undefined;
  const asked = Bun.spawn([found, "-c", QUERY_SCRIPT], { stdin: "ignore", stdout: "pipe", stderr: "ignore" });
  const answer = (await asked.stdout.text()).trim().split("\n");
  if ((await asked.exited) !== 0 || answer.length !== 4) return undefined;
  const [program, prefix, base, version] = answer as [string, string, string, string];
  const folders = found.startsWith("/usr/bin/") ? [] : [...new Set([prefix, base])];
  return { program, folders, version };
}
