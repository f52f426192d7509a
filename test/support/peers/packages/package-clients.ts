/** Package clients outside of the system's folders that need no network: a test provides their programs. */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "../../harness.ts";

interface Clients extends Disposable {
  /** Everyone may read and write it; scripts do not see it. */
  folder: string;
  /** Value of PATH that finds them first. */
  path: string;
}

/** Languages whose clients are programs in that language, and how the program reports its location. */
const INTERPRETERS: Record<string, [locate: string, version: string]> = {
  php: ["-r", "8.2"],
  ruby: ["-e", "3.1.0"],
};

/**
 * Installs clients as `tools/NAME`, each with a link `links/NAME` on the PATH and a file `secret` beside both,
 * with separate interpreters, so that the machine's clients are not found.
 * @param programs text of each client by its name; `FOLDER` stands for the folder
 */
export function installClients(programs: Record<string, string>): Clients {
  const folder = createTemporaryFolder("svc-clients-");
  const [interpreters, tools, links] = ["interpreters", "tools", "links"].map((name) => join(folder, name));
  for (const made of [interpreters!, tools!, links!]) mkdirSync(made);
  const write = (path: string, text: string, mode: number) => {
    writeFileSync(path, text);
    chmodSync(path, mode);
  };
  for (const [name, [locate, version]] of Object.entries(INTERPRETERS)) {
    const real = Bun.which(name);
    if (!real) continue;
    const own = join(interpreters!, name);
    const answer = `[ $# = 2 ] && [ "$1" = ${locate} ] && exec printf '%s\\n' ${own} ${version} ${interpreters}`;
    write(own, `#!/bin/sh\n${answer}\nexec ${real} "$@"\n`, 0o755);
  }
  for (const [name, text] of Object.entries(programs)) {
    write(join(tools!, name), text.replaceAll("FOLDER", folder), 0o755);
    symlinkSync(join(tools!, name), join(links!, name));
  }
  for (const place of [tools!, links!]) write(join(place, "secret"), "not-for-scripts", 0o644);
  return {
    folder,
    path: `${interpreters}:${links}:${process.env.PATH}`,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
