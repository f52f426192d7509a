/** Mistakes of new users, and unsuitable environments: the message names the cause and the remedy. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { deploy, startTestServer } from "../../support/harness.ts";
import { createCliEnvironment, formatError } from "../program.ts";

const ACME = { SVC_WORKSPACE: "acme" };
const PASSWORD = ["--email", "ann@example.org", "--password", "correct-horse", "--no-start"];

test("a bash script with the line ends of Windows runs, from a file and deployed", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer({ data_dir: place.data_dir });
  const { ask } = await server.workspace();
  const content = 'name="$1"\r\nif [ "$name" = Bob ]; then\r\n  echo "hi $name"\r\nfi\r\n';
  await place.file("hi.sh", content);
  const run = (what: string) => place.svc(["run", what, "name=Bob", "--no-log"], { env: ACME });
  expect(await run("hi.sh")).toEqual({ code: 0, out: '"hi Bob"\n', err: "" });
  await deploy(ask, "acme", "u/admin/hi", content, { language: "bash" });
  expect(await run("u/admin/hi")).toEqual({ code: 0, out: '"hi Bob"\n', err: "" });
  await place.file("open.sh", "if true; then\r\n  echo a\r\n");
  const open = await place.svc(["run", "open.sh"], { env: ACME });
  expect(open.err).toStartWith("error: open.sh:3:1: syntax error: unexpected end of file\n");
}, 60_000);

test("script and flow, file and path: the other one is named", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer({ data_dir: place.data_dir });
  const { ask } = await server.workspace();
  await place.file("hi.ts", "export const main = () => 1;");
  await deploy(ask, "acme", "u/admin/hi", "export const main = () => 1;");
  expect(await place.svc(["flow", "run", "u/admin/hi"], { env: ACME })).toEqual({
    code: 1,
    out: "",
    err: formatError(
      "there is no flow u/admin/hi in workspace acme",
      "u/admin/hi is a script: svc run u/admin/hi",
    ),
  });
  expect(await place.svc(["script", "push", "u/admin/hi", "hi.ts"], { env: ACME })).toEqual({
    code: 2,
    out: "",
    err: formatError("the file comes first", "svc script push hi.ts u/admin/hi"),
  });
}, 60_000);

test("svc init says which data directory other folders no longer use", async () => {
  using place = createCliEnvironment();
  const init = (name: string) =>
    place.svc(["init", "--data-dir", name, "--listen", "127.0.0.1:0", ...PASSWORD]);
  expect((await init("one")).err).not.toContain("no longer");
  const folder = realpathSync(place.folder);
  expect((await init("two")).err).toContain(
    `in folders without data, svc now uses this directory, no longer ${folder}/one\n`,
  );
}, 60_000);

/** Whether the system reserves low ports for root. */
const reserves = () => {
  const file = "/proc/sys/net/ipv4/ip_unprivileged_port_start";
  return existsSync(file) && Number(readFileSync(file, "utf8")) > 81 && process.getuid?.() === 0;
};

describe.skipIf(!reserves() || Bun.which("setpriv") === null)("a port for root only", () => {
  const HINT =
    "choose a port from 1024 up, or give the executable CAP_NET_BIND_SERVICE (setcap, or AmbientCapabilities in a unit)";

  test("is refused by init and by serve with what to do", async () => {
    using place = createCliEnvironment();
    const powerless = ["setpriv", "--bounding-set", "-net_bind_service", "--inh-caps", "-net_bind_service"];
    const run = async (args: string[]) => {
      const child = Bun.spawn(
        [...powerless, ...place.program, ...args, "--data-dir", join(place.folder, "new")],
        {
          env: place.environment,
          stdin: "ignore",
          stdout: "ignore",
          stderr: "pipe",
        },
      );
      const [err, code] = await Promise.all([child.stderr.text(), child.exited]);
      return { err, code };
    };
    expect(await run(["init", "--listen", "127.0.0.1:80", ...PASSWORD])).toEqual({
      err: formatError("127.0.0.1:80 cannot be listened on (EACCES)", HINT),
      code: 1,
    });
    const served = await run(["serve", "--port", "80"]);
    expect(served).toEqual({
      err: formatError("this user may not listen on port 80 of 127.0.0.1", HINT),
      code: 1,
    });
  }, 60_000);
});

test.skipIf(!existsSync("/dev/full"))(
  "output that a full disk refuses is an error, and no success",
  async () => {
    using place = createCliEnvironment();
    await place.file("one.ts", "export const main = () => 1;");
    const run = async (...args: string[]) => {
      const child = Bun.spawn([...place.program, ...args], {
        cwd: place.folder,
        env: place.environment,
        stdio: ["ignore", Bun.file("/dev/full"), "pipe"],
      });
      return { err: await child.stderr.text(), code: await child.exited };
    };
    const err = "error: the output could not be written: ENOSPC: no space left on device, write\n";
    expect(await run("--help")).toEqual({ code: 1, err });
    expect(await run("run", "one.ts", "--no-log")).toEqual({ code: 1, err });
    expect(await run("nix")).toEqual({ code: 2, err: expect.stringContaining("unknown command 'nix'") });
  },
  60_000,
);
