/**
 * The Python that analyses scripts: found while the server runs, and started directly instead of through a slow
 * shim.
 */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCliEnvironment, start } from "../../cli/program.ts";

test("Python may be installed later, behind a shim that is called once and not for each deployment", async () => {
  using place = createCliEnvironment();
  const bin = join(place.folder, "bin");
  const calls = join(place.folder, "calls");
  mkdirSync(bin);
  using server = start(place, ["serve", "--port", "0", "--json"], { PATH: bin });
  await server.says('"url"');
  const svc = (...words: string[]) => place.svc(words);
  await svc("user", "create", "--email", "ann@example.org", "--password", "correct-horse");
  await svc("workspace", "create", "acme", "--name", "Acme", "--owner", "ann@example.org");
  const deploy = async (name: string, value: number) => {
    const file = await place.file(`${name}.py`, `def main(): return ${value}\n`);
    return svc("script", "push", file, `u/ann/${name}`);
  };
  expect((await deploy("early", 1)).err).toContain("python3 is not installed on this server");

  const python = Bun.spawnSync(["python3", "-c", "import sys; print(sys.executable)"])
    .stdout.toString()
    .trim();
  const shim = `#!/bin/sh\necho called >> ${calls}\nexec ${python} "$@"\n`;
  writeFileSync(join(bin, "python3"), shim, { mode: 0o755 });
  const values = [1, 2, 3];
  for (const value of values) {
    expect(await deploy(`late${value}`, value)).toMatchObject({ code: 0 });
    expect((await svc("run", `u/ann/late${value}`)).out).toBe(`${value}\n`);
  }
  // One call by the analysis, one by the run.
  expect(readFileSync(calls, "utf8")).toBe("called\ncalled\n");
}, 60_000);
