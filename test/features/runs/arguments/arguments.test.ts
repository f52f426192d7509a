/** From a request to the arguments object: contract §4.10, rules 2 to 9. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type Ask, deploy, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let token: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask, token } = await server.workspace());
  await deploy(ask, "acme", "u/admin/args", "export const main = ({ ...all }: object) => all");
});
afterAll(() => server.stop());

/** Sends the body unchanged, without a content type unless one is given. */
async function run(body: string | Uint8Array, type: string | undefined, query = "") {
  const headers = new Headers({ authorization: `Bearer ${token}`, "x-sign": "abc", "x-two-words": "d" });
  if (type !== undefined) headers.set("content-type", type);
  const url = `${server.url}/api/w/acme/jobs/run/p/u/admin/args${query}`;
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const response = await fetch(url, { method: "POST", headers, body: bytes as Uint8Array<ArrayBuffer> });
  return { status: response.status, text: await response.text() };
}

async function argsOf(body: string | Uint8Array, type: string | undefined, query = ""): Promise<unknown> {
  const { status, text } = await run(body, type, query);
  expect([status, text]).toEqual([201, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  return (await ask("GET", `/w/acme/jobs_u/get_args/${text}`)).json();
}

const form = "application/x-www-form-urlencoded";
const json = "application/json";
const latin1 = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const binary = new Uint8Array([0xff, 0xfe, 0x00, 0x41]);

type Row = [what: string, type: string | undefined, body: string | Uint8Array, query: string, args: unknown];
const rows: Row[] = [
  ["a JSON object", json, '{"a":1,"b":[2]}', "", { a: 1, b: [2] }],
  ["an object with a charset", "application/json; charset=utf-8", '{"a":"ü"}', "", { a: "ü" }],
  ["an object with space around it", json, ' {"a":1}\n', "", { a: 1 }],
  ["a key given twice", json, '{"a":1,"a":2}', "", { a: 2 }],
  ["null", json, "null", "", {}],
  ["an array", json, "[1,2]", "", { body: [1, 2] }],
  ["a string", json, '"x"', "", { body: "x" }],
  ["a number", json, "7", "", { body: 7 }],
  ["false", json, "false", "", { body: false }],
  ["JSON after a byte order mark", json, '\ufeff{"a":1}', "", { a: 1 }],
  ["JSON is UTF-8 whatever it says", "application/json; charset=latin1", '{"a":"ü"}', "", { a: "ü" }],

  ["wrap_body", json, '{"a":1}', "?wrap_body=true", { body: { a: 1 } }],
  ["wrap_body of an array", json, "[1]", "?wrap_body=true", { body: [1] }],
  ["wrap_body of null", json, "null", "?wrap_body=true", { body: {} }],
  ["wrap_body of nothing", json, "", "?wrap_body=true", { body: {} }],
  ["wrap_body of a form", form, "a=1", "?wrap_body=true", { body: { a: "1" } }],
  ["wrap_body of text", "text/plain", "hi", "?wrap_body=true", { body: "hi", raw_string: "hi" }],

  ["raw, to the letter", json, '{ "a" : 1 }\n', "?raw=true", { a: 1, raw_string: '{ "a" : 1 }\n' }],
  ["raw of what is not an object", json, "[1 ]", "?raw=true", { body: [1], raw_string: "[1 ]" }],
  ["raw that wins over a key", json, '{"raw_string":1}', "?raw=true", { raw_string: '{"raw_string":1}' }],
  ["raw of a form", form, "a=%31", "?raw=true", { a: "1", raw_string: "a=%31" }],
  ["raw of nothing", json, "", "?raw=true", { raw_string: "" }],
  ["raw of space", json, " \n", "?raw=true", { raw_string: " \n" }],
  ["raw with a byte order mark", json, '\ufeff{"a":1}', "?raw=true", { a: 1, raw_string: '\ufeff{"a":1}' }],
  ["raw beside wrap_body", json, "{}", "?raw=true&wrap_body=true", { body: {}, raw_string: "{}" }],

  ["a form", form, "a=1&b=x+y&c=%C3%BC", "", { a: "1", b: "x y", c: "ü" }],
  ["a form with a charset", `${form}; charset=UTF-8`, "a=1", "", { a: "1" }],
  ["a field given twice", form, "a=1&b=2&a=3", "", { a: "3", b: "2" }],
  ["fields without a value", form, "a&b=&&c=1", "", { a: null, b: "", c: "1" }],
  ["a field called ?a", form, "?a=1", "", { "?a": "1" }],
  ["JSON that calls itself a form, as curl -d sends it", form, '{"a":1}', "", { a: 1 }],
  ["an array that calls itself a form", form, "[1]", "", { body: [1] }],
  ["a form that begins like JSON", form, "{a=1", "", { "{a": "1" }],

  ["text", "text/plain", "hello there", "", { raw_string: "hello there" }],
  ["text that is JSON", "text/plain", '{"a":1}', "", { a: 1 }],
  ["text in another charset", 'text/plain; charset="ISO-8859-1"', latin1("grün"), "", { raw_string: "grün" }],
  ["XML", "application/xml", "<a/>", "", { raw_string: "<a/>" }],
  ["XML that calls itself text", "text/xml", "<a/>", "", { raw_string: "<a/>" }],
  ["any other type", "application/x-yaml", "a: 1", "", { raw_string: "a: 1" }],
  ["any other type that is JSON", "application/x-thing", '{"a":1}', "", { a: 1 }],
  ["what is not text", "image/x-thing", binary, "", { raw_string: "\ufffd\ufffd\0A" }],
  ["a +json type", "application/vnd.thing+json", '{"a":1}', "", { a: 1 }],
  ["no type, JSON", undefined, '{"a":1}', "", { a: 1 }],
  ["what calls itself JSON and is none", json, "{a}", "", { raw_string: "{a}" }],
  ["the same as it stands", json, "{a}\n", "?raw=true", { raw_string: "{a}\n" }],
  ["what calls itself +json and is none", "application/vnd.thing+json", "x", "", { raw_string: "x" }],
  ["no type, no JSON", undefined, "hello", "", { raw_string: "hello" }],

  ["nothing", undefined, "", "", {}],
  ["nothing as JSON", json, "", "", {}],
  ["nothing as a +json type", "application/vnd.thing+json", "", "", {}],
  ["nothing as a form", form, "", "", {}],
  ["nothing as text", "text/plain", "", "", { raw_string: "" }],
  ["nothing as any other type", "application/octet-stream", "", "", { raw_string: "" }],

  ["include_query", json, '{"a":1}', "?include_query=b,a,none&b=2&a=9", { a: "9", b: "2" }],
  ["a query parameter given twice", json, "{}", "?include_query=b&b=1&b=2", { b: "2" }],
  ["a query parameter without a value", json, "{}", "?include_query=b&b", { b: "" }],
  [
    "a query parameter with spaces in the list",
    json,
    "{}",
    "?include_query=%20b%20,,c&b=1&c=2",
    { b: "1", c: "2" },
  ],
  ["include_header", json, '{"a":1}', "?include_header=X-Sign,X-None", { a: 1, x_sign: "abc" }],
  ["include_header in any case", json, "{}", "?include_header=x-TWO-words", { x_two_words: "d" }],
  [
    "include_header of no header's name",
    json,
    "{}",
    "?include_header=a%20b,%C3%BC,x-sign",
    { x_sign: "abc" },
  ],
  ["a header that wins over a key", json, '{"x_sign":1}', "?include_header=x-sign", { x_sign: "abc" }],
  [
    "all of them",
    json,
    "[1]",
    "?raw=true&include_query=q&q=1&include_header=x-sign",
    { body: [1], q: "1", x_sign: "abc", raw_string: "[1]" },
  ],
];

test.each(rows)("%s", async (_, type, body, query, args) => {
  expect(await argsOf(body, type, query)).toEqual(args);
});

test("a name with a meaning in JavaScript is an ordinary name", async () => {
  const { text } = await run('{"constructor":1}', json, "?include_query=__proto__&__proto__=x");
  expect((await ask("GET", `/w/acme/jobs_u/get_args/${text}`)).text).toBe(
    '{"constructor":1,"__proto__":"x"}',
  );
});

const refused: [what: string, type: string, body: string, says: string][] = [
  ["a charset that is not known", "text/plain; charset=klingon", "x", "charset klingon"],
  ["form-data without an object storage", "multipart/form-data; boundary=x", "--x--", "object storage"],
];

test.each(refused)("%s is rejected", async (_, type, body, says) => {
  expect(await run(body, type)).toEqual({ status: 400, text: expect.stringContaining(says) });
});

describe("INCLUDE_HEADERS", () => {
  afterEach(() => {
    delete process.env.INCLUDE_HEADERS;
  });

  test("passes headers on with every request", async () => {
    process.env.INCLUDE_HEADERS = "X-Two-Words, x-none";
    expect(await argsOf('{"a":1}', json)).toEqual({ a: 1, x_two_words: "d" });
    expect(await argsOf("{}", json, "?include_header=x-sign")).toEqual({ x_sign: "abc", x_two_words: "d" });
  });
});

describe("a call by GET", () => {
  const call = (query: string) => ask("GET", `/w/acme/jobs/run_wait_result/p/u/admin/args${query}`);
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const base64url = (text: string) => Buffer.from(text).toString("base64url");
  const object = '{"a":">>>???ü"}';

  const payloads: [what: string, query: string, args: unknown][] = [
    ["no payload", "", {}],
    ["an empty payload", "?payload=", {}],
    ["base64url", `?payload=${base64url(object)}`, JSON.parse(object)],
    ["base64", `?payload=${encodeURIComponent(base64(object))}`, JSON.parse(object)],
    ["base64 that is not percent-encoded", `?payload=${base64(object)}`, JSON.parse(object)],
    [
      "base64 that is percent-encoded twice",
      `?payload=${encodeURIComponent(encodeURIComponent(base64(object)))}`,
      JSON.parse(object),
    ],
    ["an array", `?payload=${base64url("[1]")}`, { body: [1] }],
    ["a string", `?payload=${base64url('"x"')}`, { body: "x" }],
    ["null", `?payload=${base64url("null")}`, {}],
    ["wrap_body", `?wrap_body=true&payload=${base64url('{"a":1}')}`, { body: { a: 1 } }],
    ["raw", `?raw=true&payload=${base64url('{"a": 1}')}`, { a: 1, raw_string: '{"a": 1}' }],
    ["include_query", "?include_query=q&q=1", { q: "1" }],
  ];

  test("has all cases of this table", () => {
    expect(base64(object)).toMatch(/\+.*\/.*=/);
  });

  test.each(payloads)("%s", async (_, query, args) => {
    const answer = await call(query);
    expect([answer.status, answer.json()]).toEqual([200, args]);
  });

  test.each([
    ["no base64", "a$b"],
    ["base64 of no JSON", base64url("hello")],
    ["base64 of no text", Buffer.from([0x22, 0xff, 0x22]).toString("base64url")],
    ["a percent sign alone", "%25"],
  ])("a payload that is %s is rejected", async (_, payload) => {
    const answer = await call(`?payload=${payload}`);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("`payload`")]);
  });
});

test.each(["bun", "nativets", "deno", "bunnative"])("a Date of %s is a date", async (language) => {
  const content = "export const main = (at: Date) => [at instanceof Date, at.toISOString()]";
  const args = { at: "2024-02-03T04:05:06Z" };
  const ran = await ask("POST", "/w/acme/jobs/run_wait_result/preview", { language, content, args });
  expect([ran.status, ran.json()]).toEqual([200, [true, "2024-02-03T04:05:06.000Z"]]);
});
