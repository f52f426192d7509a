/** Numbers that a double cannot represent keep all digits on every path of users' JSON through the service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Answer,
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

/**
 * Larger than 2^53, more than 17 digits, a Python float, out of range, and one that JavaScript formats
 * differently.
 */
const NUMBERS = "[12345678901234567891,0.12345678901234567891,1.0,1e400,-0]";
/** Values that a JSON schema processes are converted to JavaScript numbers. */
const VALUES = "[12345678901234567891,0.12345678901234567891,1,1e400,0]";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  // Bash receives its arguments as they were written.
  const schema = { type: "object", properties: { x: {}, key: { type: "string", format: "password" } } };
  const show = 'x="$1"\nkey="$2"\necho "$x"\n';
  await deploy(ask, "acme", "u/admin/show", show, { language: "bash" });
  await deploy(ask, "acme", "u/admin/locked", show, { language: "bash", schema });
  await deploy(ask, "acme", "u/admin/for", show, {
    language: "bash",
    on_behalf_of_email: "admin_acme@example.org",
  });
  await deploy(ask, "acme", "u/admin/whole", 'body="$1"\necho "$body"\n', { language: "bash" });
  const secret = { path: "u/admin/key", value: "sesame", is_secret: true, description: "" };
  await expectOk(ask("POST", "/w/acme/variables/create", secret));
}, 60_000);
afterAll(() => server.stop());

const JSON_TYPE = { "content-type": "application/json" };
const post = (path: string, body: string, of: Ask = ask): Promise<Answer> =>
  expectOk(of("POST", `/w/acme/${path}`, body, JSON_TYPE));
const shown = (answer: Answer): string => answer.json<string>();
const run = async (path: string, body: string, of: Ask = ask) =>
  shown(await post(`jobs/run_wait_result/${path}`, body, of));

describe("arguments keep their numbers", () => {
  test.each([
    ["as they are", "p/u/admin/show", `{"x":${NUMBERS}}`],
    ["beside parameters of the query", "p/u/admin/show?include_query=a&a=1", `{"x":${NUMBERS}}`],
    ["beside the raw text", "p/u/admin/show?raw=true", `{"x":${NUMBERS}}`],
    ["wrapped", "p/u/admin/whole?wrap_body=true", NUMBERS],
    ["beside a password", "p/u/admin/locked", `{"x":${NUMBERS},"key":"sesame"}`],
    ["where a password may stand", "p/u/admin/locked", `{"x":${NUMBERS}}`],
    ["beside a reference", "p/u/admin/show", `{"x":${NUMBERS},"key":"$var:u/admin/key"}`],
  ])("%s", async (_, path, body) => {
    expect(await run(path, body)).toBe(NUMBERS);
  });

  test("a body that is a single number", async () => {
    expect(await run("p/u/admin/whole", "12345678901234567891")).toBe("12345678901234567891");
  });

  test("of a caller who runs a script on another's behalf", async () => {
    const { ask: bob } = await server.member("acme", "bob");
    await expectOk(ask("POST", "/w/acme/acls/add/script/u/admin/for", { owner: "u/bob" }));
    expect(await run("p/u/admin/for", `{"x":${NUMBERS},"key":"$NOT_ANY"}`, bob)).toBe(NUMBERS);
    const own = { path: "u/bob/own", value: "mine", is_secret: true, description: "" };
    await expectOk(bob("POST", "/w/acme/variables/create", own));
    expect(await run("p/u/admin/for", `{"x":${NUMBERS},"key":"$var:u/bob/own"}`, bob)).toBe(NUMBERS);
  });

  test("in a query's payload, in a CloudEvent, and in the job's record", async () => {
    const payload = Buffer.from(`{"x":${NUMBERS}}`).toString("base64url");
    const got = await ask("GET", `/w/acme/jobs/run_wait_result/p/u/admin/show?payload=${payload}`);
    expect(shown(got)).toBe(NUMBERS);
    const event = `{"specversion":"1.0","id":"1","source":"/t","type":"t","data":{"x":${NUMBERS}}}`;
    const id = await ask("POST", "/w/acme/jobs/run/p/u/admin/show", event, {
      "content-type": "application/cloudevents+json",
    });
    const done = await until(async () => {
      const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id.text}`);
      return answer.status === 200 ? answer : undefined;
    });
    expect(done.text).toContain(`"x":${NUMBERS}`);
    expect(done.json().result).toBe(NUMBERS);
    const options = { "u/admin/show": { input_transforms: { key: { type: "static", value: "k" } } } };
    const again = { job_ids: [id.text], script_options_by_path: options, flow_options_by_path: {} };
    const [rerun] = (await expectOk(ask("POST", "/w/acme/jobs/run/batch_rerun_jobs", again))).text.split(
      "\n",
    );
    const second = await until(async () => {
      const answer = await ask("GET", `/w/acme/jobs_u/completed/get_result_maybe/${rerun}`);
      return answer.json().completed ? answer.json().result : undefined;
    });
    expect(second).toBe(NUMBERS);
  });
});

describe("flows keep numbers", () => {
  const step = (id: string, x: object) => ({
    id,
    value: { type: "script", path: "u/admin/show", input_transforms: { x } },
  });
  const preview = (value: object, args: string) =>
    run("preview_flow", `{"value":${JSON.stringify(value)},"args":${args}}`);

  test("that a step takes from the flow's input, whole or in part", async () => {
    const expr = (text: string) => ({ type: "javascript", expr: text });
    for (const [text, path] of [
      ["flow_input.x", `{"x":${VALUES}}`],
      ["flow_input.inner.x", `{"inner":{"x":${VALUES}}}`],
    ] as const) {
      expect(await preview({ modules: [step("a", expr(text))] }, path)).toBe(VALUES);
    }
    const one = await preview({ modules: [step("a", expr("flow_input.x[0]"))] }, `{"x":${NUMBERS}}`);
    expect(one).toBe("12345678901234567891");
  });

  test("of a loop's items, and in the flow itself", async () => {
    const loop = {
      id: "l",
      value: {
        type: "forloopflow",
        iterator: { type: "javascript", expr: "flow_input.x" },
        skip_failures: false,
        modules: [step("b", { type: "javascript", expr: "flow_input.iter.value" })],
      },
    };
    const result = await post(
      "jobs/run_wait_result/preview_flow",
      `{"value":${JSON.stringify({ modules: [loop] })},"args":{"x":${VALUES}}}`,
    );
    expect(result.json()).toEqual(["12345678901234567891", "0.12345678901234567891", "1", "1e400", "0"]);
    const written = JSON.stringify({ modules: [step("a", { type: "static", value: "NUMBERS" })] });
    const body = `{"value":${written.replace('"NUMBERS"', VALUES)},"args":{}}`;
    expect(await run("preview_flow", body)).toBe(VALUES);
  });

  test("and compute with them like JavaScript", async () => {
    const sum = { type: "javascript", expr: "flow_input.n + 1 > 0 && flow_input.one === 1 ? 'yes' : 'no'" };
    expect(await preview({ modules: [step("a", sum)] }, '{"n":12345678901234567891,"one":1.0}')).toBe("yes");
    const zero = { type: "javascript", expr: "flow_input.zero ? 'yes' : 'no'" };
    expect(await preview({ modules: [step("a", zero)] }, '{"zero":0.0}')).toBe("no");
  });
});

test("resources, schedules and the archive keep numbers", async () => {
  const type = { name: "c_big", schema: { type: "object", properties: { n: { type: "number" } } } };
  await expectOk(ask("POST", "/w/acme/resources/type/create", type));
  const resource = `{"path":"u/admin/big","resource_type":"c_big","value":{"n":12345678901234567891,"x":${VALUES}}}`;
  expect((await post("resources/create", resource)).text).not.toContain("warning");
  const stored = (await expectOk(ask("GET", "/w/acme/resources/get_value/u/admin/big"))).text;
  expect(stored).toBe(`{"n":12345678901234567891,"x":${VALUES}}`);
  expect(await run("p/u/admin/show", `{"x":"$res:u/admin/big"}`)).toBe(stored);
  const schedule = `{"path":"u/admin/s","script_path":"u/admin/show","is_flow":false,"schedule":"0 0 0 1 1 *","timezone":"UTC","enabled":false,"args":{"x":${VALUES}}}`;
  await post("schedules/create", schedule);
  expect((await expectOk(ask("GET", "/w/acme/schedules/get/u/admin/s"))).text).toContain(`"x":${VALUES}`);
  const archive = await expectOk(
    ask("GET", "/w/acme/workspaces/tarball?include_schedules=true&archive_type=tar"),
  );
  expect(archive.text).toContain("12345678901234567891");
  expect(archive.text).not.toContain("rawJSON");
});

test("results keep numbers wherever they are read", async () => {
  const code = 'echo \'{"wm_status_code":200.0,"result":[12345678901234567891,1.0]}\' > result.json';
  await deploy(ask, "acme", "u/admin/result", code, { language: "bash" });
  const answer = await post("jobs/run_wait_result/p/u/admin/result", "{}");
  expect([answer.status, answer.text]).toEqual([200, "[12345678901234567891,1.0]"]);
  const id =
    answer.headers.get("svc-job-id") ??
    (await expectOk(ask("GET", "/w/acme/jobs/completed/list?script_path_exact=u/admin/result"))).json()[0].id;
  for (const path of [
    `completed/get_result/${id}?json_path=result`,
    `completed/get_result_maybe/${id}`,
    `completed/get/${id}`,
  ]) {
    expect((await expectOk(ask("GET", `/w/acme/jobs_u/${path}`))).text).toContain(
      "[12345678901234567891,1.0]",
    );
  }
});

test("the cache distinguishes numbers by all of their digits", async () => {
  const code = 'n="$1"\necho "$n"\n';
  await deploy(ask, "acme", "u/admin/cached", code, { language: "bash", cache_ttl: 600 });
  for (const n of ["9007199254740993", "9007199254740992", "1", "1.0"]) {
    expect(await run("p/u/admin/cached", `{"n":${n}}`)).toBe(n);
  }
});

test("a result is reused for others only within their own time", async () => {
  const code = "export function main() { return crypto.randomUUID() }";
  await deploy(ask, "acme", "u/admin/fresh", code, { cache_ttl: 600 });
  const usual = await run("p/u/admin/fresh", "{}");
  const stretched = await run("p/u/admin/fresh?cache_ttl=900000", "{}");
  expect(stretched).not.toBe(usual);
  expect(await run("p/u/admin/fresh", "{}")).toBe(usual);
  expect(await run("p/u/admin/fresh?cache_ttl=900000", "{}")).toBe(stretched);
});

describe("a retry with an Idempotency-Key", () => {
  const retried = async (of: Ask, path: string, body: string, key: string) => {
    const headers = { ...JSON_TYPE, "idempotency-key": key };
    const answers = [1, 2].map(() => of("POST", `/w/acme/jobs/run/p/${path}`, body, headers));
    const [first, second] = await Promise.all(answers);
    const third = await of("POST", `/w/acme/jobs/run/p/${path}`, body, headers);
    expect([first!.status, second!.text, third.text]).toEqual([201, first!.text, first!.text]);
    const other = await of("POST", `/w/acme/jobs/run/p/${path}`, body.replace("{", '{"other":1,'), headers);
    expect(other.status).toBe(422);
  };

  test("gets the first job's id although a password was encrypted", async () => {
    await retried(ask, "u/admin/locked", '{"x":1,"key":"open sesame"}', "with-password");
  });

  test("and although references were resolved for the caller", async () => {
    const scoped = { workspace_id: "acme", scopes: ["jobs:run:scripts:u/admin/show", "variables:read"] };
    const token = (await expectOk(ask("POST", "/users/tokens/create", scoped))).text;
    await retried(server.as(token), "u/admin/show", '{"x":"$var:u/admin/key"}', "with-reference");
  });
});
