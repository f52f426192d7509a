/** Isolation between the processes of jobs: state, files, and processes left running. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { detectSandboxSupport } from "../../../../src/engines/runner/sandbox/support.ts";
import { type Ask, deploy, startTestServer, type TestServer, until } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let other: Ask;
const isWalled = detectSandboxSupport().landlock > 0;

beforeAll(async () => {
  server = await startTestServer({ workers: 2 });
  ({ ask } = await server.workspace());
  ({ ask: other } = await server.workspace("other"));
});
afterAll(() => server.stop());

const run = async (who: Ask, workspace: string, path: string, args: object = {}) =>
  (await who("POST", `/w/${workspace}/jobs/run_wait_result/p/${path}`, args)).json();

test("a process shares no state between versions, workspaces or users, even for the same code", async () => {
  const content = `import * as fs from "node:fs";
    export const main = (mark: string) => {
      const before = [(globalThis as any).mark ?? null, process.env.MARK ?? null, fs.existsSync("mark") ? fs.readFileSync("mark", "utf8") : null];
      (globalThis as any).mark = mark; process.env.MARK = mark; fs.writeFileSync("mark", mark);
      return before;
    }`;
  const path = "u/admin/marks";
  const nothing = [null, null, null];
  await deploy(ask, "acme", path, content);
  await deploy(other, "other", path, content);
  expect(await run(ask, "acme", path, { mark: "a" })).toEqual(nothing);
  expect(await run(ask, "acme", path, { mark: "b" })).toEqual(["a", "a", null]);
  expect(await run(other, "other", path, { mark: "c" })).toEqual(nothing);
  const { ask: bob } = await server.member("acme", "bob", "admin");
  expect(await run(bob, "acme", path, { mark: "d" })).toEqual(nothing);
  await deploy(ask, "acme", path, `${content} // the next version`);
  expect(await run(ask, "acme", path, { mark: "e" })).toEqual(nothing);
  expect(await run(other, "other", path, { mark: "f" })).toEqual(["c", "c", null]);
});

test("a script with isolation fresh gets a new process each time", async () => {
  const content = "export const main = () => [process.pid, process.cwd()]";
  await deploy(ask, "acme", "u/admin/shared", content);
  await deploy(ask, "acme", "u/admin/fresh", content, { isolation: "fresh" });
  const twice = async (path: string) => [await run(ask, "acme", path), await run(ask, "acme", path)];
  const [first, second] = await twice("u/admin/shared");
  expect(second).toEqual(first);
  const [one, two] = await twice("u/admin/fresh");
  expect([one[0] === two[0], one[1] === two[1]]).toEqual([false, false]);
  await until(() => (existsSync(two[1]) ? undefined : true), "its folder to go");
  const stored = (await ask("GET", "/w/acme/scripts/get/p/u/admin/fresh")).json();
  expect(stored).toMatchObject({ isolation: "fresh" });
});

test("a process in which something was left running is not used again and is killed", async () => {
  const content = `import { spawn } from "node:child_process";
    export const main = (leaves: boolean) => [process.pid, leaves ? spawn("sleep", ["60"], { detached: true, stdio: "ignore" }).pid : 0]`;
  await deploy(ask, "acme", "u/admin/leaves", content);
  const [clean] = await run(ask, "acme", "u/admin/leaves", { leaves: false });
  const [pid, left] = await run(ask, "acme", "u/admin/leaves", { leaves: true });
  expect(pid).toBe(clean);
  expect(existsSync(`/proc/${left}`)).toBe(false);
  expect((await run(ask, "acme", "u/admin/leaves", { leaves: false }))[0]).not.toBe(pid);
});

test("a script's own memory limit is stored with it, and has a minimum", async () => {
  const content = "export const main = () => 1";
  await deploy(ask, "acme", "u/admin/small", content, { memory_mb: 256 });
  expect((await ask("GET", "/w/acme/scripts/get/p/u/admin/small")).json()).toMatchObject({ memory_mb: 256 });
  const body = { path: "u/admin/tiny", content, language: "bun", memory_mb: 8 };
  const refused = await ask("POST", "/w/acme/scripts/create", body);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("must be 64 MB or more")]);
});

test("the record of a job shows its sandbox, and so does its export", async () => {
  await deploy(
    ask,
    "acme",
    "u/admin/records",
    "export const main = (fails: boolean) => { if (fails) throw new Error() }",
  );
  const isolation = isWalled
    ? expect.stringMatching(/^files \(Landlock \d+\), .*limits$/)
    : expect.any(String);
  for (const fails of [false, true]) {
    const id = (await ask("POST", "/w/acme/jobs/run/p/u/admin/records", { fails })).text;
    const record = await until(async () => {
      const job = (await ask("GET", `/w/acme/jobs_u/get/${id}`)).json();
      return job.type === "CompletedJob" ? job : undefined;
    }, "the job");
    expect(record).toMatchObject({ success: !fails, isolation });
  }
  const flow = { modules: [{ id: "a", value: { type: "identity" } }] };
  await ask("POST", "/w/acme/jobs/run_wait_result/preview_flow", { value: flow });
  const listed = (await ask("GET", "/w/acme/jobs/list?has_null_parent=true&per_page=1")).json();
  expect(listed[0].isolation).toBeUndefined();
  const exported = (await ask("GET", "/w/acme/jobs/completed/export")).json();
  expect(
    exported.find((job: { script_path?: string }) => job.script_path === "u/admin/records"),
  ).toMatchObject({ isolation });
});

test.if(isWalled)(
  "the folder shared by a flow's steps is accessible to them, and others' are not",
  async () => {
    const step = (id: string, content: string) => ({
      id,
      value: { type: "rawscript", language: "bun", content, input_transforms: {} },
    });
    const writes = `export const main = () => Bun.write("shared/note", "of step a")`;
    const reads = `import { readdirSync, readFileSync, realpathSync } from "node:fs";
    export const main = () => {
      const note = readFileSync("shared/note", "utf8");
      try { return [note, readdirSync(realpathSync("shared") + "/..")] } catch (cause) { return [note, (cause as { code: string }).code] }
    }`;
    const value = { same_worker: true, modules: [step("a", writes), step("b", reads)] };
    const preview = () => ask("POST", "/w/acme/jobs/run_wait_result/preview_flow", { value });
    // Again, with warm processes of both steps.
    for (let n = 0; n < 2; n++) expect((await preview()).json()).toEqual(["of step a", "EACCES"]);
  },
);

test("no script can listen on an address of localhost that reaches the server", async () => {
  const content = `export const main = (port: number) => ["127.0.0.1", "::1", "0.0.0.0", "::"].map((hostname) => {
    try { Bun.listen({ hostname, port, socket: { data() {} } }).stop(true); return "got" } catch (cause) { return (cause as { code: string }).code }
  })`;
  await deploy(ask, "acme", "u/admin/listens", content);
  const port = Number(new URL(server.url).port);
  expect(await run(ask, "acme", "u/admin/listens", { port })).toEqual(Array(4).fill("EADDRINUSE"));
  const same = await fetch(`http://[::1]:${port}/api/version`);
  expect([same.status, await same.text()]).toEqual([200, (await ask("GET", "/version")).text]);
});
