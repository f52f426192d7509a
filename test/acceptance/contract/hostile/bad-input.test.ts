/** Invalid requests are refused with a clear error and the right status, and the server stays up. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer({ max_body_mb: 2 });
  ({ ask } = await server.workspace());
  await deploy(ask, "acme", "u/admin/fine", "export const main = (n: number) => n + 1");
});
afterAll(() => server.stop());
afterEach(async () => {
  expect((await run("u/admin/fine", { n: 41 })).text).toBe("42");
});

const run = (path: string, args: unknown = {}, query = "") =>
  ask("POST", `/w/acme/jobs/run_wait_result/p/${path}${query}`, args);

describe("a rejected call", () => {
  const json = { "content-type": "application/json" };
  const RUN = "/w/acme/jobs/run/p/u/admin/fine";
  const CREATE = "/w/acme/scripts/create";
  const script = { path: "u/admin/new", content: "export const main = () => 1", language: "bun" };
  const large = { x: "x".repeat(2_000_001) };
  type Row = [
    what: string,
    method: string,
    path: string,
    body: unknown,
    status: number,
    error: string,
    text: string,
  ];
  const rows: Row[] = [
    [
      "an unknown path",
      "POST",
      "/w/acme/jobs/run/p/u/admin/nobody",
      {},
      404,
      "NotFound",
      "script u/admin/nobody",
    ],
    [
      "an unknown hash",
      "POST",
      "/w/acme/jobs/run/h/0123456789abcdef",
      {},
      404,
      "NotFound",
      "0123456789abcdef",
    ],
    ["another workspace", "POST", "/w/nowhere/jobs/run/p/u/admin/fine", {}, 401, "Unauthorized", "nowhere"],
    ["a body that is not JSON", "POST", CREATE, "{bad", 400, "BadRequest", "the body is not JSON"],
    ["the same at deploy", "POST", CREATE, "{bad", 400, "BadRequest", "the body is not JSON"],
    [
      "a payload that is not base64",
      "GET",
      "/w/acme/jobs/run_wait_result/p/u/admin/fine?payload=%21",
      undefined,
      400,
      "BadRequest",
      "`payload`",
    ],
    ["wrong types, all named", "POST", CREATE, { path: 1, language: "cobol" }, 400, "InvalidInput", "`path`"],
    ["no object", "POST", CREATE, [], 400, "InvalidInput", "must be an object, not an array"],
    [
      "a language not offered",
      "POST",
      CREATE,
      { ...script, language: "cobol" },
      400,
      "InvalidInput",
      '"cobol" is not supported',
    ],
    ["a bad path", "POST", CREATE, { ...script, path: "x" }, 400, "BadRequest", '"x" is not a path'],
    ["a query field of the wrong type", "POST", `${RUN}?timeout=soon`, {}, 400, "InvalidInput", "`timeout`"],
    [
      "a query field that is neither true nor false",
      "POST",
      `${RUN}?raw=maybe`,
      {},
      400,
      "InvalidInput",
      "`raw`: must be true or false",
    ],
    [
      "a time beyond all calendars",
      "POST",
      `${RUN}?scheduled_in_secs=99999999999999`,
      {},
      400,
      "InvalidInput",
      "`scheduled_in_secs`",
    ],
    [
      "a query field that is neither true nor false",
      "GET",
      "/w/acme/scripts/list?show_archived=maybe",
      undefined,
      400,
      "InvalidInput",
      "query field `show_archived`: must be true or false",
    ],
    [
      "a lock that is neither text nor lines",
      "POST",
      CREATE,
      { ...script, lock: 1 },
      400,
      "InvalidInput",
      "body field `lock`: must be a string, not a number; or must be an array, not a number",
    ],
    ["a bad uuid", "GET", "/w/acme/jobs_u/get/nope", undefined, 400, "BadRequest", '"nope" is not a job id'],
    ["a bad uuid to cancel", "POST", "/w/acme/jobs_u/queue/cancel/nope", {}, 400, "BadRequest", "UUID"],
    ["a bad job_id", "POST", `${RUN}?job_id=1`, {}, 400, "InvalidInput", "`job_id`"],
    [
      "an unknown job",
      "GET",
      `/w/acme/jobs_u/get/${crypto.randomUUID()}`,
      undefined,
      404,
      "NotFound",
      "job ",
    ],
    [
      "an unknown route",
      "GET",
      "/w/acme/nope",
      undefined,
      404,
      "NotFound",
      "there is no GET /api/w/acme/nope",
    ],
    ["the wrong method", "GET", CREATE, undefined, 405, "MethodNotAllowed", "only POST"],
    [
      "a URL that is not text",
      "GET",
      "/w/acme/scripts/get/p/u/admin/%zz",
      undefined,
      400,
      "BadRequest",
      "percent-encoded",
    ],
    ["a NUL in the URL", "GET", "/w/acme/scripts/get/p/u/admin/%00", undefined, 400, "BadRequest", "NUL"],
    ["a NUL in the query", "POST", `${RUN}?tag=%00`, {}, 400, "BadRequest", "NUL"],
    ["a NUL in the body", "POST", CREATE, { ...script, summary: "\0" }, 400, "BadRequest", "NUL"],
    ["an oversized body", "POST", RUN, large, 413, "PayloadTooLarge", "2 MB"],
    ["the same at deploy", "POST", CREATE, large, 413, "PayloadTooLarge", "2 MB"],
    [
      "a body nested beyond measure",
      "POST",
      RUN,
      "[".repeat(200_000) + "]".repeat(200_000),
      400,
      "BadRequest",
      "nested deeper than the 500 levels",
    ],
    [
      "the same at deploy",
      "POST",
      CREATE,
      `{"schema":${'{"a":'.repeat(1_000)}1${"}".repeat(1_000)}}`,
      400,
      "BadRequest",
      "deeper than the 500 levels",
    ],
  ];
  test.each(rows)("%s", async (_, method, path, body, status, error, text) => {
    const answer = await ask(method, path, body, typeof body === "string" ? json : {});
    expect([answer.status, answer.headers.get("svc-error")]).toEqual([status, error]);
    expect(answer.headers.get("content-type")).toStartWith("text/plain");
    expect(answer.text).toContain(text);
    expect((await ask("GET", "/w/acme/scripts/exists/p/u/admin/new")).json()).toBe(false);
  });

  test("brackets in strings do not count as depth, and five hundred levels are allowed", async () => {
    const deep = `{"a":${"[".repeat(499)}${"]".repeat(499)},"text":${JSON.stringify('\\"[{'.repeat(2_000))}}`;
    expect((await ask("POST", RUN, deep, json)).status).not.toBe(400);
  });

  test("an oversized body of unknown length", async () => {
    const { token } = await server.user("streams", { super_admin: true });
    const piece = new Uint8Array(100_000).fill(32);
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => (sent++ < 30 ? controller.enqueue(piece) : controller.close()),
    });
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${server.url}/api${RUN}`, { method: "POST", headers, body });
    expect(answer.status).toBe(413);
  });

  test("an archived script cannot be run, by path or by hash", async () => {
    const hash = await deploy(ask, "acme", "u/admin/old", "export const main = () => 1");
    await expectOk(ask("POST", "/w/acme/scripts/archive/p/u/admin/old"));
    for (const target of ["p/u/admin/old", `h/${hash}`]) {
      const answer = await ask("POST", `/w/acme/jobs/run/${target}`, {});
      expect(answer.status).toBe(400);
      expect(answer.text).toContain("script u/admin/old in workspace acme is archived");
    }
  });

  test("a missing package version is stored, and deployment_status returns the reason", async () => {
    const body = {
      path: "u/admin/pinned",
      content: 'import x from "is-number@999.0.0"; export const main = () => x',
      language: "bun",
    };
    const hash = (await expectOk(ask("POST", "/w/acme/scripts/create", body))).text;
    const status = await until(async () => {
      const found = (await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`)).json();
      return found.lock_error_logs === undefined ? undefined : found;
    });
    expect(status.lock).toBeUndefined();
    expect(status.lock_error_logs).toContain("is-number");
    expect((await ask("GET", `/w/acme/scripts/get/h/${hash}`)).json().content).toBe(body.content);
    const answer = await run("u/admin/pinned");
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("dependencies could not be resolved");
  }, 60_000);
});
