/**
 * Languages that cannot run here are stored and returned, and their runs report it. TypeScript runs under each
 * of its names.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

const create = (path: string, language: string, content: string, more: object = {}) =>
  ask("POST", "/w/acme/scripts/create", { path, language, content, ...more });

test.each(["csharp", "java", "ansible", "duckdb"])(
  "%s is stored, and a run says why it fails",
  async (language) => {
    const path = `u/admin/in_${language}`;
    const schema = { type: "object", properties: { who: { type: "string" } }, required: [] };
    const created = await create(path, language, "whatever it says", { schema, lock: "a lock" });
    expect(created.status).toBe(201);
    const stored = (await ask("GET", `/w/acme/scripts/get/p/${path}`)).json();
    expect(stored).toMatchObject({ language, content: "whatever it says", schema, lock: "a lock" });
    const ran = (await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, {})).json();
    expect(ran.error.message).toContain(`${language} scripts are stored but cannot be run here`);
    const module = { id: "a", value: { type: "rawscript", language, content: "x", input_transforms: {} } };
    const flow = await ask("POST", "/w/acme/jobs/run_wait_result/preview_flow", {
      value: { modules: [module] },
      args: {},
    });
    expect(flow.text).toContain(`${language} scripts are stored but cannot be run here`);
  },
);

test.each(["deno", "bunnative"])("%s runs as TypeScript", async (language) => {
  const path = `u/admin/in_${language}`;
  await create(path, language, "export const main = (n: number) => n + 1");
  expect((await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, { n: 1 })).json()).toBe(2);
  expect((await ask("GET", `/w/acme/scripts/get/p/${path}`)).json().language).toBe(language);
});

test("limits of 0 mean no limit, and are returned", async () => {
  const none = { concurrent_limit: 0, concurrency_time_window_s: 0, timeout: 0, cache_ttl: 0 };
  await create("u/admin/none", "bun", "export const main = () => 1", none);
  expect((await ask("GET", "/w/acme/scripts/get/p/u/admin/none")).json()).toMatchObject(none);
  expect((await ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/none", {})).json()).toBe(1);
});

test.each(["bun", "python3"])("an empty file of %s is a module that others can import", async (language) => {
  expect((await create(`u/admin/empty_${language}`, language, "")).status).toBe(201);
});
