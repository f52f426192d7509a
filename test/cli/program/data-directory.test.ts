/** Where a command finds its data: never in a new, empty instance. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type CliEnvironment, createCliEnvironment, formatError } from "../program.ts";

/** Runs a command in a folder below the temporary one, without naming a data directory. */
async function runIn(
  place: CliEnvironment,
  folder: string,
  args: string[],
  env: Record<string, string> = {},
) {
  const child = Bun.spawn([...place.program, ...args], {
    cwd: join(place.folder, folder),
    env: { ...place.environment, SVC_DATA_DIR: "", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, err };
}

const INIT = ["init", "--email", "ann@example.org", "--password", "correct-horse", "--workspace", "acme"];

test("in a folder without a data directory, commands say so and create nothing", async () => {
  using place = createCliEnvironment();
  mkdirSync(join(place.folder, "e"));
  const here = realpathSync(join(place.folder, "e"));
  const asking = [
    "token create",
    "user create",
    "workspace delete beta",
    "folder create",
    "resource set u/a/b",
  ];
  const others = ["job list", "whoami", "script list", "workspace list", "stop", "status"];
  // Commands that prompt report it before they prompt.
  for (const words of [...others, ...asking]) {
    expect({ words, ...(await runIn(place, "e", words.split(" "))) }).toEqual({
      words,
      code: 3,
      out: "",
      err: formatError(
        `no server and no data: no .svc in ${here} or above`,
        "svc init makes one here; elsewhere: --data-dir, SVC_DATA_DIR, or svc login <url>",
      ),
    });
  }
  const named = await runIn(place, "e", ["job", "list", "--data-dir", "typo"]);
  expect(named).toEqual({
    code: 3,
    out: "",
    err: formatError(`there is no data directory ${here}/typo`, `svc init --data-dir ${here}/typo makes it`),
  });
  for (const name of [".svc", "typo"]) expect(existsSync(join(here, name))).toBe(false);
}, 60_000);

test("the nearest .svc above is used, else the one created by svc init", async () => {
  using place = createCliEnvironment();
  for (const folder of ["a/b/c", "elsewhere"]) mkdirSync(join(place.folder, folder), { recursive: true });
  const made = await runIn(place, "a", [...INIT, "--listen", "127.0.0.1:0", "--no-start"]);
  expect({ code: made.code, err: made.code === 0 ? "" : made.err }).toEqual({ code: 0, err: "" });
  // Test servers hash passwords at a lower cost.
  const database = new Database(join(place.folder, "a/.svc/svc.db"), { readonly: true });
  expect(database.query("SELECT password_hash FROM users").all()).toEqual([
    { password_hash: expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=\d+\$/) },
  ]);
  database.close();
  for (const folder of ["a", "a/b/c", "elsewhere"]) {
    const { code, out } = await runIn(place, folder, ["workspace", "list"]);
    expect({ folder, code, out }).toEqual({ folder, code: 0, out: expect.stringContaining("acme") });
  }
  expect(existsSync(join(place.folder, "elsewhere/.svc"))).toBe(false);
  // A restore replaces the data that other commands use only if it is told to.
  expect(await runIn(place, "a", ["backup", "../all.backup"])).toMatchObject({ code: 0 });
  const refused = await runIn(place, "a/b/c", ["restore", "../../../all.backup"]);
  expect([refused.code === 0, refused.err]).toEqual([false, expect.stringContaining("--force")]);
  expect(await runIn(place, "a/b/c", ["restore", "--force", "../../../all.backup"])).toMatchObject({
    code: 0,
  });
  expect(existsSync(join(place.folder, "a/b/c/.svc"))).toBe(false);
  // A local file runs without any setup.
  await Bun.write(join(place.folder, "elsewhere/one.ts"), "export const main = () => 1;");
  const ran = await runIn(place, "elsewhere", ["run", "one.ts"], { HOME: join(place.folder, "nobody") });
  expect(ran).toMatchObject({ code: 0, out: "1\n" });
  expect(existsSync(join(place.folder, "elsewhere/.svc"))).toBe(true);
}, 60_000);
