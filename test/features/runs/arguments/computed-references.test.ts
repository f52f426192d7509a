/**
 * Texts that look like references in what steps, expressions and preprocessors have computed: data of others is not
 * resolved with the rights of the run, and what its author or caller means as a reference is.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

const SECRET = "s3cret-of-ann";
const REFERENCE = "$var:u/ann/hidden";

let server: TestServer;
let ann: Ask;
let bob: Ask;

beforeAll(async () => {
  server = await startTestServer();
  await server.workspace();
  ann = (await server.member("acme", "ann")).ask;
  bob = (await server.member("acme", "bob")).ask;
  const secret = { path: "u/ann/hidden", value: SECRET, is_secret: true, description: "" };
  await expectOk(ann("POST", "/w/acme/variables/create", secret));
});
afterAll(() => server.stop());

/** A step that runs code on the value of an expression. */
const step = (id: string, expr: string, code = "x", more: object = {}) => ({
  id,
  value: {
    type: "rawscript",
    language: "bun",
    content: `export const main = (x: any) => ${code}`,
    input_transforms: { x: { type: "javascript", expr } },
  },
  ...more,
});
const loop = (id: string, expr: string, ...modules: object[]) => ({
  id,
  value: { type: "forloopflow", iterator: { type: "javascript", expr }, modules, skip_failures: false },
});

/** Shows what it got, so that masking does not hide a value. */
const SHOW = "[...JSON.stringify(x)].join('·')";
const show = (value: unknown) => [...JSON.stringify(value)].join("·");

let made = 0;
/** Deploys a flow of ann. @returns its path */
async function makeFlow(value: object, more: object = {}): Promise<string> {
  const path = `u/ann/f${++made}`;
  await expectOk(ann("POST", "/w/acme/flows/create", { path, summary: "", value, ...more }));
  return path;
}

/** Calls a script or flow of ann by a route that needs no login. */
async function callByRoute(path: string, is_flow: boolean, body: object, more: object = {}) {
  const route_path = path.replaceAll("/", "-");
  const route = { path: `${path}_route`, script_path: path, is_flow, enabled: true, http_method: "post" };
  const open = { route_path, workspaced_route: true, authentication_method: "none", request_type: "sync" };
  await expectOk(ann("POST", "/w/acme/http_triggers/create", { ...route, ...open, ...more }));
  return (await server.as(undefined)("POST", `/r/acme/${route_path}`, body)).json();
}

const QUOTED = JSON.stringify({ y: REFERENCE });

describe("what a caller without rights sends stays a text", () => {
  test.each([
    ["passed on by a step", [step("a", "flow_input.x"), step("b", "results.a", SHOW)], REFERENCE],
    [
      "deep in a result",
      [step("a", "flow_input.x"), step("b", "({ z: [results.a] })", SHOW)],
      { y: REFERENCE },
    ],
    [
      "passed on as the previous result",
      [step("a", "flow_input.x"), step("b", "previous_result", SHOW)],
      REFERENCE,
    ],
    [
      "parsed by a step",
      [step("a", "flow_input.x", "JSON.parse(x)"), step("b", "results.a.y", SHOW)],
      QUOTED,
    ],
    ["parsed by an expression", [step("b", "JSON.parse(flow_input.x).y", SHOW)], QUOTED],
    [
      "parsed by an expression on a result",
      [step("a", "flow_input.x"), step("b", "JSON.parse(results.a).y", SHOW)],
      QUOTED,
    ],
    [
      "in a loop",
      [step("a", "flow_input.x", "[x]"), loop("l", "results.a", step("b", "flow_input.iter.value", SHOW))],
      REFERENCE,
    ],
    [
      "beside a reference that the author builds",
      [step("a", "flow_input.x"), step("b", "[results.a, '$var:u/ann/hidden'.length]", SHOW)],
      REFERENCE,
    ],
  ])("%s", async (_, modules, x) => {
    const result = JSON.stringify(await callByRoute(await makeFlow({ modules }), true, { x }));
    expect(result).not.toContain(show(SECRET).slice(1, -1));
    expect(result).toContain(show(REFERENCE).slice(1, -1));
  });

  test("in an error that a failure step reads", async () => {
    const modules = [step("a", "flow_input.x", "{ throw new Error(JSON.parse(x).y); }")];
    const failure_module = step("failure", "error.message", SHOW);
    const path = await makeFlow({ modules, failure_module });
    const result = JSON.stringify(await callByRoute(path, true, { x: QUOTED }));
    expect(result).toContain(show(REFERENCE).slice(1, -1));
  });

  test("in a flow that runs on behalf of its author", async () => {
    const modules = [step("a", "flow_input.x", "JSON.parse(x)"), step("b", "results.a.y", SHOW)];
    const path = await makeFlow({ modules }, { on_behalf_of_email: "ann@example.org" });
    await expectOk(ann("POST", `/w/acme/acls/add/flow/${path}`, { owner: "u/bob" }));
    const answer = await bob("POST", `/w/acme/jobs/run_wait_result/f/${path}`, { x: QUOTED });
    expect(answer.json()).toBe(show(REFERENCE));
  });

  test("given to a task of a workflow as code", async () => {
    const path = `u/ann/w${++made}`;
    const code = `export const shown = (x: any) => ${SHOW};
export const main = async (x: any) => {
  const jobs = process.env.BASE_INTERNAL_URL + "/api/w/acme/";
  const headers = { authorization: "Bearer " + process.env.WM_TOKEN };
  const run = jobs + "jobs/run/workflow_as_code/" + process.env.WM_JOB_ID + "/shown";
  const id = await (await fetch(run, { method: "POST", headers, body: JSON.stringify({ args: { x } }) })).text();
  for (;;) {
    const end = await (await fetch(jobs + "jobs_u/completed/get_result_maybe/" + id, { headers })).json();
    if (end.completed) return end.result;
  }
};`;
    await deploy(ann, "acme", path, code);
    expect(await callByRoute(path, false, { x: REFERENCE })).toBe(show(REFERENCE));
  });

  test.each([
    ["as it is", "x", REFERENCE],
    ["unpacked", "JSON.parse(x).y", QUOTED],
  ])("passed on by a job to another one, %s", async (_, expr, x) => {
    const [path, inner] = [`u/ann/o${++made}`, `u/ann/i${made}`];
    await deploy(ann, "acme", inner, `export const main = (x: any) => ${SHOW}`);
    const code = `export const main = async (x: any) => {
  const { BASE_INTERNAL_URL, WM_TOKEN } = process.env;
  const run = BASE_INTERNAL_URL + "/api/w/acme/jobs/run_wait_result/p/${inner}";
  const headers = { authorization: "Bearer " + WM_TOKEN, "content-type": "application/json" };
  return (await fetch(run, { method: "POST", headers, body: JSON.stringify({ x: ${expr} }) })).json();
}`;
    await deploy(ann, "acme", path, code);
    expect(await callByRoute(path, false, { x })).toBe(show(REFERENCE));
  });

  test("passed on by a job to a flow that waits for approval", async () => {
    const asks = step("a", "1", "x", { suspend: { required_events: 1 } });
    const waiting = await makeFlow({ modules: [asks, step("b", "resume.x", SHOW)] });
    const id = (await expectOk(ann("POST", `/w/acme/jobs/run/f/${waiting}`, {}))).text;
    await until(async () => (await ann("GET", `/w/acme/jobs_u/get/${id}`)).json().suspend === 1);
    const path = `u/ann/o${++made}`;
    const code = `export const main = async (x: any) => {
  const { BASE_INTERNAL_URL, WM_TOKEN } = process.env;
  const headers = { authorization: "Bearer " + WM_TOKEN, "content-type": "application/json" };
  const resume = BASE_INTERNAL_URL + "/api/w/acme/jobs/flow/resume/${id}";
  return (await fetch(resume, { method: "POST", headers, body: JSON.stringify({ x }) })).status;
}`;
    await deploy(ann, "acme", path, code);
    expect(await callByRoute(path, false, { x: REFERENCE })).toBe(201);
    const result = async () => (await ann("GET", `/w/acme/jobs_u/completed/get_result_maybe/${id}`)).json();
    const end = await until(async () => ((await result()).completed ? await result() : undefined));
    expect(end.result).toBe(show(REFERENCE));
  });

  test.each([
    ["of a script", false],
    ["of a flow", true],
  ])("unpacked by a preprocessor %s", async (_, is_flow) => {
    const code = "export const preprocessor = (event: any) => ({ x: JSON.parse(event.raw_string).y });";
    let path = `u/ann/p${++made}`;
    if (is_flow) {
      const content = code;
      const value = { type: "rawscript", language: "bun", content, input_transforms: {} };
      const preprocessor_module = { id: "preprocessor", value };
      path = await makeFlow({ modules: [step("a", "flow_input.x", SHOW)], preprocessor_module });
    } else await deploy(ann, "acme", path, `${code} export const main = (x: any) => ${SHOW};`);
    const result = await callByRoute(path, is_flow, { y: REFERENCE }, { raw_string: true });
    expect(result).toBe(show(REFERENCE));
  });
});

describe("what is meant as a reference is resolved", () => {
  test.each([
    ["given by the caller", [step("a", "flow_input.x", SHOW)], REFERENCE],
    [
      "given by the caller, in an object that an expression makes",
      [step("b", "Object.assign({}, { z: flow_input.x }).z", SHOW)],
      REFERENCE,
    ],
    [
      "through a step that passes its input on",
      [
        {
          id: "a",
          value: { type: "identity", input_transforms: { x: { type: "javascript", expr: "flow_input.x" } } },
        },
        step("b", "results.a.x", SHOW),
      ],
      REFERENCE,
    ],
    [
      "built by an expression",
      [step("a", "flow_input.x"), step("b", "'$var:u/ann/' + results.a", SHOW)],
      "hidden",
    ],
    [
      "built by the expression of a loop",
      [
        step("a", "flow_input.x", "[x]"),
        loop("l", "results.a.map((name) => '$var:u/ann/' + name)", step("b", "flow_input.iter.value", SHOW)),
      ],
      "hidden",
    ],
  ])("%s", async (_, modules, x) => {
    const path = await makeFlow({ modules });
    const answer = await ann("POST", `/w/acme/jobs/run_wait_result/f/${path}`, { x });
    expect([answer.json()].flat()).toEqual([show(SECRET)]);
  });

  test("given by a job to another one", async () => {
    const [path, inner] = [`u/ann/o${++made}`, `u/ann/i${made}`];
    await deploy(ann, "acme", inner, `export const main = (x: any) => ${SHOW}`);
    const code = `export const main = async (name: string) => {
  const { BASE_INTERNAL_URL, WM_TOKEN } = process.env;
  const run = BASE_INTERNAL_URL + "/api/w/acme/jobs/run_wait_result/p/${inner}";
  const headers = { authorization: "Bearer " + WM_TOKEN, "content-type": "application/json" };
  return (await fetch(run, { method: "POST", headers, body: JSON.stringify({ x: "$var:u/ann/" + name }) })).json();
}`;
    await deploy(ann, "acme", path, code);
    expect(await callByRoute(path, false, { name: "hidden" })).toBe(show(SECRET));
  });

  test("built by a preprocessor", async () => {
    const path = `u/ann/p${++made}`;
    const code = `export const preprocessor = (event: any) => ({ x: '$var:u/ann/' + event.body.name });
export const main = (x: any) => ${SHOW};`;
    await deploy(ann, "acme", path, code);
    expect(await callByRoute(path, false, { name: "hidden" })).toBe(show(SECRET));
  });
});
