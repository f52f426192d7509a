/** Scripts that reject calls whose arguments do not match their schema. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
const CODE =
  "export const main = (name: string, times = 1, to: { city?: string } = {}) => name.repeat(times)";

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await deploy(ask, "acme", "u/admin/strict", CODE, { validate: true });
  await deploy(ask, "acme", "u/admin/open", CODE);
});
afterAll(() => server.stop());

const countJobs = async () => (await expectOk(ask("GET", "/w/acme/jobs/list"))).json().length;

test.each([
  ["a missing argument", {}, "must have required property 'name'"],
  ["an unknown argument", { name: "a", tims: 2 }, "must NOT have additional properties: tims"],
  ["an argument of another type", { name: "a", times: "2" }, "`times` must be number"],
])("%s is rejected before a job is created", async (_, args, message) => {
  const before = await countJobs();
  for (const way of ["run", "run_wait_result"]) {
    const answer = await ask("POST", `/w/acme/jobs/${way}/p/u/admin/strict`, args);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
    expect(answer.text).toContain("u/admin/strict");
  }
  expect(await countJobs()).toBe(before);
});

test("matching arguments, references and defaults run; a script without the option accepts anything", async () => {
  const run = (path: string, args: object) =>
    ask("POST", `/w/acme/jobs/run_wait_result/p/u/admin/${path}`, args);
  expect((await expectOk(run("strict", { name: "a", times: 3 }))).json()).toBe("aaa");
  expect((await expectOk(run("strict", { name: "a" }))).json()).toBe("a");
  const later = await ask("POST", "/w/acme/jobs/run/p/u/admin/strict", {
    name: "a",
    times: "$var:u/admin/n",
  });
  expect(later.status).toBe(201);
  expect((await expectOk(run("open", { name: "b", tims: 2 }))).json()).toBe("b");
});

test("the setting is returned, kept by archives, and off by default", async () => {
  const read = async (name: string) =>
    (await expectOk(ask("GET", `/w/acme/scripts/get/p/u/admin/${name}`))).json().validate;
  expect([await read("strict"), await read("open")]).toEqual([true, false]);
  const archive = (await expectOk(ask("GET", "/w/acme/workspaces/tarball"))).text;
  expect(archive.match(/"validate": ?true/g)).toHaveLength(1);
});
