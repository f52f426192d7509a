/** From a request to the arguments object: contract §4.10, rules 2 to 9. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, deploy, startTestServer, type TestServer } from "../harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  // Without a signature, main is handed the whole object.
  await deploy(ask, "acme", "u/admin/args", "export const main = (...all: any[]) => 0");
});
afterAll(() => server.stop());

const form = "application/x-www-form-urlencoded";
const json = "application/json";

type Row = [what: string, type: string, body: string, query: string, args: unknown];
const rows: Row[] = [
  ["a JSON object", json, '{"a":1,"b":[2]}', "", { a: 1, b: [2] }],
  ["an object with a charset", "application/json; charset=utf-8", '{"a":"ü"}', "", { a: "ü" }],
  ["an empty body", json, "", "", {}],
  ["null", json, "null", "", {}],
  ["an array", json, "[1,2]", "", { body: [1, 2] }],
  ["a string", json, '"x"', "", { body: "x" }],
  ["a number", json, "7", "", { body: 7 }],
  ["false", json, "false", "", { body: false }],
  ["wrap_body", json, '{"a":1}', "?wrap_body=true", { body: { a: 1 } }],
  ["wrap_body of an array", json, "[1]", "?wrap_body=true", { body: [1] }],
  ["raw, to the letter", json, '{ "a" : 1 }\n', "?raw=true", { a: 1, raw_string: '{ "a" : 1 }\n' }],
  ["raw that wins over a key", json, '{"raw_string":1}', "?raw=true", { raw_string: '{"raw_string":1}' }],
  ["a form", form, "a=1&b=x+y&c=%C3%BC", "", { a: "1", b: "x y", c: "ü" }],
  ["a form, raw too", form, "a=1", "?raw=true", { a: "1", raw_string: "a=1" }],
  ["JSON that calls itself a form, as curl -d sends it", form, '{"a":1}', "", { a: 1 }],
  ["a form that begins like JSON", form, "{a=1", "", { "{a": "1" }],
  ["text", "text/plain", "hello there", "", { raw_string: "hello there" }],
  ["text that is JSON", "text/plain", '{"a":1}', "", { a: 1 }],
  ["XML", "application/xml", "<a/>", "", { raw_string: "<a/>" }],
  ["any other type", "application/x-yaml", "a: 1", "", { raw_string: "a: 1" }],
  ["any other type that is JSON", "application/x-thing", '{"a":1}', "", { a: 1 }],
  ["a +json type", "application/vnd.thing+json", '{"a":1}', "", { a: 1 }],
  ["include_query", json, '{"a":1}', "?include_query=b,a,none&b=2&a=9", { a: "9", b: "2" }],
  ["include_header", json, '{"a":1}', "?include_header=X-Sign,X-None", { a: 1, x_sign: "abc" }],
  [
    "all of them",
    json,
    "[1]",
    "?raw=true&include_query=q&q=1&include_header=x-sign",
    { body: [1], q: "1", x_sign: "abc", raw_string: "[1]" },
  ],
];

test.each(rows)("%s", async (_, type, body, query, args) => {
  const headers = { "content-type": type, "x-sign": "abc" };
  const run = await ask("POST", `/w/acme/jobs/run/p/u/admin/args${query}`, body, headers);
  expect([run.status, run.text]).toEqual([201, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  expect((await ask("GET", `/w/acme/jobs_u/get_args/${run.text}`)).json()).toEqual(args);
});

const refused: [what: string, type: string, body: string, says: string][] = [
  ["what calls itself JSON and is none", json, "{a}", "the body is not JSON"],
  ["batched CloudEvents", "application/cloudevents-batch+json", "[]", "batched CloudEvents"],
  ["form-data without an object storage", "multipart/form-data; boundary=x", "--x--", "object storage"],
];

test.each(refused)("%s is refused", async (_, type, body, says) => {
  const answer = await ask("POST", "/w/acme/jobs/run/p/u/admin/args", body, { "content-type": type });
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
});
