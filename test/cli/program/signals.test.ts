/** Long-running commands: behaviour on signals, and when the server goes away. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startTestServer } from "../../support/harness.ts";
import { createCliEnvironment, start } from "../program.ts";

const SLOW = `export async function main() { console.log("at work"); await Bun.sleep(600_000); }`;

test("Ctrl-C cancels the job of run, with and without a server", async () => {
  using served = createCliEnvironment();
  using alone = createCliEnvironment();
  await using server = await startTestServer({ data_dir: served.data_dir });
  for (const place of [served, alone]) {
    await place.file("slow.ts", SLOW);
    using running = start(place, ["run", "slow.ts"]);
    await running.says("at work");
    running.child.kill("SIGINT");
    const { code, out, err } = await running.ended();
    expect({ code, out }).toEqual({ code: 130, out: "" });
    expect(err).toMatch(
      /^at work\ncanceling…\nerror: canceled by \S+: Ctrl-C at the terminal\nhint: svc job show \S+ --workspace local\n$/,
    );
  }
  expect((await server.operator("GET", "/w/local/jobs/list?running=true")).json()).toEqual([]);
}, 60_000);

test("serve prints its address and exits on SIGTERM; a run interrupted by that names its job", async () => {
  using place = createCliEnvironment();
  await place.file("slow.ts", SLOW);
  using serving = start(place, ["serve", "--port", "0", "--json"], { SVC_DRAIN_S: "0" });
  const { url, setup_url, pid } = JSON.parse(await serving.says("\n}\n"));
  expect(pid).toBe(serving.child.pid);
  expect(setup_url).toStartWith(`${url}/api/setup/`);
  expect((await fetch(`${url}/api/version`)).status).toBe(200);
  using running = start(place, ["run", "slow.ts"]);
  await running.says("at work");
  serving.child.kill("SIGTERM");
  const { code, err } = await serving.ended();
  expect(code).toBe(0);
  const log = err
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { msg: string });
  expect(log.map(({ msg }) => msg)).toContain("SIGTERM: taking no new jobs, waiting for the running ones");
  const left = await running.ended();
  expect(left.code).toBe(3);
  expect(left.err).toMatch(
    /\nerror: the server of \S+ cannot be reached: .*\nhint: the job may still be running: svc job logs \S+ --workspace local --follow\n$/,
  );
}, 60_000);

test("a serve command that is stopped while it starts stops once it is up", async () => {
  using place = createCliEnvironment();
  rmSync(place.data_dir, { recursive: true });
  using serving = start(place, ["serve", "--port", "0"]);
  while (!existsSync(place.data_dir)) await Bun.sleep(1);
  serving.child.kill("SIGTERM");
  const { code, err } = await serving.ended();
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining("SIGTERM: ") });
  expect(existsSync(join(place.data_dir, "svc.sock"))).toBe(false);
}, 60_000);

test("a serve command that waits for its database can be stopped soon", async () => {
  using place = createCliEnvironment();
  const asked = Promise.withResolvers<void>();
  using silent = Bun.listen({
    port: 0,
    hostname: "127.0.0.1",
    socket: { open: () => asked.resolve(), data() {} },
  });
  const env = { DATABASE_URL: `postgres://svc:hidden-word@127.0.0.1:${silent.port}/x` };
  using serving = start(place, ["serve", "--port", "0"], env);
  await asked.promise;
  serving.child.kill("SIGTERM");
  const { code, err } = await serving.ended();
  // Because of the signal, or because the database did not respond in time.
  expect([1, 130]).toContain(code!);
  expect(err).toContain(`"msg":"SIGTERM: ending as soon as the server is up"}\n`);
}, 60_000);

test("demo calls every webhook, and cleans up", async () => {
  using place = createCliEnvironment();
  const env = { TMPDIR: place.folder, DATABASE_URL: "postgres://must-not-be-used:1/x" };
  const { code, out } = await place.svc(["demo", "--exit", "--port", "0", "--json"], { env });
  const { workspace, calls } = JSON.parse(out);
  expect({ code, workspace }).toEqual({ code: 0, workspace: "demo" });
  expect(calls.length).toBeGreaterThan(6);
  expect(calls.filter((call: { ok: boolean }) => !call.ok)).toEqual([]);

  using going = start(place, ["demo", "--port", "0"], env);
  await going.says("Ctrl-C stops the server");
  going.child.kill("SIGINT");
  expect((await going.ended()).code).toBe(0);
  expect(readdirSync(place.folder).filter((name) => name.startsWith("svc-demo"))).toEqual([]);
  expect(readdirSync(place.data_dir)).toEqual([]);
}, 60_000);
