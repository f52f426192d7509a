/** Fields of newer clients: those that have an effect, and those that the response reports as unsupported. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { NOT_OFFERED } from "../../../../src/features/tenancy/rights/not-offered.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await deploy(ask, "acme", "u/admin/one", "export const main = () => 1");
});
afterAll(() => server.stop());

let count = 0;
const identity = { id: "a", value: { type: "identity" } };
const flow = (value: object, more: object = {}) =>
  expectOk(
    ask("POST", "/w/acme/flows/create", {
      path: `u/admin/flow_${++count}`,
      summary: "",
      value: { modules: [identity], ...value },
      ...more,
    }),
  );
const script = (more: object) =>
  expectOk(
    ask("POST", "/w/acme/scripts/create", {
      path: `u/admin/script_${++count}`,
      summary: "",
      description: "",
      content: "export const main = () => 1",
      language: "bun",
      ...more,
    }),
  );
const schedule = (more: object) =>
  expectOk(
    ask("POST", "/w/acme/schedules/create", {
      path: `u/admin/schedule_${++count}`,
      schedule: "0 0 0 1 1 *",
      timezone: "UTC",
      script_path: "u/admin/one",
      args: {},
      ...more,
    }),
  );
const warned = async (asked: ReturnType<typeof flow>) => (await asked).headers.get("warning");

test.each([
  ["a script", "debounce_delay_s", () => script({ debounce_delay_s: 5 })],
  ["a script", "cache_ignore_s3_path", () => script({ cache_ignore_s3_path: true })],
  ["a flow", "delete_after_secs", () => flow({ delete_after_secs: 9 })],
  ["a flow's own field", "debounce_key", () => flow({}, { debounce_key: "x" })],
  [
    "a step in a branch",
    "delete_after_secs",
    () =>
      flow({
        modules: [
          {
            id: "b",
            value: {
              type: "branchone",
              default: [],
              branches: [{ expr: "true", modules: [{ ...identity, delete_after_secs: 1 }] }],
            },
          },
        ],
      }),
  ],
  [
    "the tag of a step",
    "$flow_expr",
    () =>
      flow({
        modules: [
          {
            id: "a",
            value: {
              type: "rawscript",
              language: "bun",
              content: "export const main = () => 1",
              input_transforms: {},
              tag: "$flow_expr: results.x",
            },
          },
        ],
      }),
  ],
  ["a schedule", "dynamic_skip", () => schedule({ dynamic_skip: "u/admin/one" })],
])("the response to %s with %s says that it has no effect", async (_, name, asked) => {
  expect(await warned(asked())).toContain(name);
});

test("absent, empty and effective fields are not mentioned", async () => {
  const empty = { dynamic_skip: null, debounce_delay_s: 0, delete_after_secs: null, debounce_key: "" };
  for (const asked of [
    script(empty),
    flow(empty, empty),
    schedule(empty),
    flow({ flow_env: { debounce_key: "x" } }),
  ]) {
    expect(await warned(asked)).toBeNull();
  }
});

test("updates of a flow or schedule warn as well", async () => {
  const path = (await flow({})).text;
  const update = { path, summary: "", value: { modules: [identity], debounce_key: "x" } };
  expect(await warned(expectOk(ask("POST", `/w/acme/flows/update/${path}`, update)))).toContain(
    "debounce_key",
  );
});

test("the reference lists each field", () => {
  const reference = readFileSync("src/REFERENCE.md", "utf8");
  for (const name of Object.keys(NOT_OFFERED)) expect(reference).toContain(`\`${name}\``);
});

test("flow_env reaches the flows that a flow calls, which may replace parts of it", async () => {
  const seen = { type: "javascript", expr: "flow_env" };
  const inner = (
    await flow({
      modules: [
        { id: "a", value: { type: "identity", input_transforms: {} } },
        {
          id: "b",
          value: {
            type: "rawscript",
            language: "bun",
            content: "export const main = (env: object) => env",
            input_transforms: { env: seen },
          },
        },
      ],
      flow_env: { stage: "inner" },
    })
  ).text;
  const call = { id: "c", value: { type: "flow", path: inner, input_transforms: {} } };
  const loop = {
    id: "l",
    value: {
      type: "forloopflow",
      iterator: { type: "static", value: [1] },
      skip_failures: false,
      modules: [call],
    },
  };
  const outer = (await flow({ modules: [loop], flow_env: { stage: "outer", region: "eu" } })).text;
  const ran = await expectOk(ask("POST", `/w/acme/jobs/run_wait_result/f/${outer}`, {}));
  expect(ran.json()).toEqual([{ stage: "inner", region: "eu" }]);
});

test("a failed stop includes the step's result on request", async () => {
  const stops = (more: object) => ({
    modules: [{ ...identity, stop_after_if: { expr: "true", error_message: "enough", ...more } }],
  });
  const ran = async (more: object) =>
    (await ask("POST", "/w/acme/jobs/run_wait_result/preview_flow", { value: stops(more), args: {} })).json();
  expect((await ran({ error_include_result: true })).error).toEqual({
    name: "StoppedEarly",
    message: "enough",
    step_id: "a",
    result: expect.anything(),
  });
  expect((await ran({})).error.result).toBeUndefined();
});

test("lists include arguments on request", async () => {
  const url = "/w/acme/jobs/run_wait_result/p/u/admin/one";
  await expectOk(ask("POST", url, { big: "x".repeat(100_000) }));
  await expectOk(ask("POST", url, { small: 1 }));
  for (const kind of ["list", "completed/list"]) {
    const list = async (query: string) =>
      (
        await expectOk(ask("GET", `/w/acme/jobs/${kind}?script_path_exact=u/admin/one&success=true&${query}`))
      ).json();
    expect((await list("include_args=true")).map(({ args }: { args: unknown }) => args)).toEqual([
      { small: 1 },
      { reason: "WINDMILL_TOO_BIG" },
    ]);
    expect((await list(""))[0].args).toBeUndefined();
  }
  const later = "scheduled_for=2100-01-01T00:00:00Z";
  await expectOk(ask("POST", `/w/acme/jobs/run/p/u/admin/one?${later}`, { small: 2 }));
  const queue = async (query: string) =>
    (await expectOk(ask("GET", `/w/acme/jobs/queue/list?script_path_exact=u/admin/one&${query}`))).json();
  expect((await queue("include_args=true"))[0].args).toEqual({ small: 2 });
  expect((await queue(""))[0].args).toBeNull();
  expect((await ask("GET", "/w/acme/jobs/queue/list?include_args=true&per_page=10001")).status).toBe(400);
});
