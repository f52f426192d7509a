/** Where the tool of a language is installed, and which of its files scripts may read. */
import { afterEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findTool } from "../../../../src/engines/runner/programs/tools.ts";
import { createTemporaryFolder } from "../../../support/harness.ts";

const { PATH } = process.env;
let prefix = "";
afterEach(() => {
  rmSync(prefix, { recursive: true, force: true });
  process.env.PATH = PATH;
});

test.skipIf(!Bun.which("ruby"))(
  "scripts can read the libraries of a Ruby outside of /usr, but not its prefix",
  async () => {
    prefix = createTemporaryFolder("ruby-");
    for (const each of ["lib/ruby/gems", "secrets", "bin"])
      mkdirSync(join(prefix, each), { recursive: true });
    await Bun.write(join(prefix, "lib/libruby.so.3"), "");
    await Bun.write(
      join(prefix, "config.rb"),
      `RbConfig::CONFIG.merge!("prefix" => "${prefix}", "rubylibprefix" => "${prefix}/lib/ruby", "libdir" => "${prefix}/lib")`,
    );
    const shim = join(prefix, "bin/ruby");
    await Bun.write(shim, `#!/bin/sh\nexec ${Bun.which("ruby")} -r ${prefix}/config.rb "$@"\n`);
    chmodSync(shim, 0o755);
    process.env.PATH = `${join(prefix, "bin")}:${PATH}`;
    const { folders, version } = await findTool("ruby");
    expect(folders).toEqual([`${prefix}/lib/ruby`, `${prefix}/lib/libruby.so.3`]);
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  },
);
