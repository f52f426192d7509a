/**
 * Errors about names and folders: they suggest the nearest name, the command that changes what exists, or the
 * owner.
 */
import { beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder, deploy, startTestServer } from "../../support/harness.ts";
import { createCliEnvironment, formatError } from "../program.ts";

const ACME = { SVC_WORKSPACE: "acme" };
const NOBODY = 65_534;

const place = createCliEnvironment();
const svc = (...args: string[]) => place.svc(args, { env: ACME });
const failure = (message: string, hint: string) => ({ code: 1, out: "", err: formatError(message, hint) });

beforeAll(async () => {
  const server = await startTestServer({ data_dir: place.data_dir });
  const { ask } = await server.workspace();
  await deploy(ask, "acme", "u/admin/report", "export const main = () => 1;");
  await server.stop();
  await svc("variable", "set", "u/admin/region", "eu-1");
  await svc("schedule", "create", "u/admin/nightly", "0 3 * * *", "u/admin/report", "--off");
});

test.each([
  ["script show u/admin/reprot", "script u/admin/reprot", "did you mean u/admin/report?"],
  ["variable show u/admin/regoin", "variable u/admin/regoin", "did you mean u/admin/region?"],
  ["variable delete u/admin/regon", "variable u/admin/regon", "did you mean u/admin/region?"],
  [
    "variable show u/admin/zone",
    "variable u/admin/zone",
    "svc variable list --workspace acme shows what there is",
  ],
  ["schedule show u/admin/nightli", "schedule u/admin/nightli", "did you mean u/admin/nightly?"],
  [
    "resource show u/admin/db",
    "resource u/admin/db",
    "svc resource list --workspace acme shows what there is",
  ],
])("svc %s: the nearest name is suggested", async (line, what, hint) => {
  expect(await svc(...line.split(" "))).toEqual(failure(`there is no ${what} in workspace acme`, hint));
});

test("a schedule of a misspelt script is not created, and the right one is suggested", async () => {
  const create = await svc("schedule", "create", "u/admin/hourly", "0 * * * *", "u/admin/reprot");
  expect(create).toEqual(
    failure("there is no script u/admin/reprot in workspace acme", "did you mean u/admin/report?"),
  );
});

test("creating an existing item names the command that changes it", async () => {
  expect(await svc("schedule", "create", "u/admin/nightly", "0 4 * * *", "u/admin/report")).toEqual(
    failure(
      "there is a schedule at u/admin/nightly already",
      "svc schedule update u/admin/nightly changes it",
    ),
  );
  const route = ["u/admin/hook", "--run", "u/admin/report", "--public"];
  expect(await svc("trigger", "http", "create", "first", ...route)).toMatchObject({ code: 0 });
  expect(await svc("trigger", "http", "create", "second", ...route)).toEqual(
    failure(
      "there is an HTTP route at u/admin/hook already",
      "svc trigger http update u/admin/hook changes it",
    ),
  );
});

test.skipIf(process.getuid?.() !== 0 || Bun.which("setpriv") === null)(
  "a folder of another user: the error names the owner and what to do",
  async () => {
    const folder = createTemporaryFolder("svc-foreign-");
    chmodSync(folder, 0o755);
    const home = join(folder, "home");
    mkdirSync(home);
    const become = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
    const run = async (...args: string[]) => {
      const child = Bun.spawn([...become, ...place.program, ...args], {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: home },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      return { code, out, err };
    };
    const owner = `${folder} belongs to user id 0, and svc runs as ${NOBODY}`;
    expect(await run("init", "--email", "ann@example.org", "--password", "correct-horse")).toEqual(
      failure(
        `${folder}/.svc cannot be created: ${owner}`,
        "name a folder of your own by --data-dir, or run svc as the owner of that one",
      ),
    );
    expect(await run("script", "new", "hello.ts")).toEqual(
      failure(
        "EACCES: permission denied, open 'hello.ts'",
        `${owner}: use a folder of your own, or run svc as its owner`,
      ),
    );
  },
);
