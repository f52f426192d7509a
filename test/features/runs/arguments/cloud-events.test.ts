/** CloudEvents 1.0 over HTTP, in both modes, and the validation request of senders: contract §4.10, rule 10. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { deploy, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let token: string;
let url: string;

beforeAll(async () => {
  server = await startTestServer();
  const { ask, token: made } = await server.workspace();
  token = made;
  url = `${server.url}/api/w/acme/jobs/run_wait_result/p/u/admin/args`;
  await deploy(ask, "acme", "u/admin/args", "export const main = ({ ...all }: object) => all");
});
afterAll(() => server.stop());

const core = { specversion: "1.0", id: "a-1", source: "/shop/1", type: "org.example.order" };
const structured = "application/cloudevents+json";

async function send(body: string | Uint8Array, headers: Record<string, string>, query = "") {
  const response = await fetch(`${url}${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: body as Uint8Array<ArrayBuffer>,
  });
  const text = await response.text();
  return { status: response.status, text, json: () => JSON.parse(text) };
}

describe("structured mode", () => {
  const call = (envelope: unknown, type = structured, query = "") =>
    send(typeof envelope === "string" ? envelope : JSON.stringify(envelope), { "content-type": type }, query);

  const full = {
    ...core,
    datacontenttype: "application/json",
    dataschema: "https://example.org/schema",
    subject: "4711",
    time: "2026-11-21T10:00:00.123456+01:00",
    extension: 7,
    another: true,
  };

  const rows: [what: string, envelope: unknown, args: object, metadata: object][] = [
    ["object data", { ...core, data: { a: 1, b: [2] } }, { a: 1, b: [2] }, core],
    ["an array", { ...core, data: [1] }, { body: [1] }, core],
    [
      "text",
      { ...core, data: "<a/>", datacontenttype: "text/xml" },
      { body: "<a/>" },
      { ...core, datacontenttype: "text/xml" },
    ],
    ["false", { ...core, data: false }, { body: false }, core],
    ["data in base64", { ...core, data_base64: "/wBB" }, { body: "/wBB" }, core],
    ["no data", core, {}, core],
    ["null", { ...core, data: null }, {}, core],
    ["every attribute, as it was sent", { ...full, data: { a: 1 } }, { a: 1 }, full],
    ["an attribute that is null", { ...core, subject: null, data: {} }, {}, { ...core, subject: null }],
  ];

  test.each(rows)("%s", async (_, envelope, args, metadata) => {
    const answer = await call(envelope);
    expect([answer.status, answer.json()]).toEqual([200, { ...args, WEBHOOK__METADATA__: metadata }]);
  });

  test("a type with parameters, and the extras requested by the URL", async () => {
    const envelope = JSON.stringify({ ...core, data: { a: 1 } });
    const query = "?wrap_body=true&raw=true&include_query=q&q=1";
    const answer = await call(envelope, `${structured}; charset=UTF-8`, query);
    expect(answer.json()).toEqual({
      body: { a: 1 },
      WEBHOOK__METADATA__: core,
      raw_string: envelope,
      q: "1",
    });
  });

  const without = (name: keyof typeof core) => ({ ...core, [name]: undefined });
  const refused: [what: string, envelope: unknown, says: string][] = [
    ["no JSON", "{a", "not JSON"],
    ["no object", [core], "JSON object"],
    ["no id", without("id"), "`id` is missing"],
    ["no source", without("source"), "`source` is missing"],
    ["no type", without("type"), "`type` is missing"],
    ["no specversion", without("specversion"), "`specversion` is missing"],
    ["another version", { ...core, specversion: "0.3" }, "`specversion` is 0.3"],
    ["an empty id", { ...core, id: "" }, "`id` must be text"],
    ["an id that is a number", { ...core, id: 1 }, "`id` must be text"],
    ["a source that is not a URI reference", { ...core, source: "a b" }, "`source`"],
    ["a time that is none", { ...core, time: "yesterday" }, "`time`"],
    ["an empty time", { ...core, time: "" }, "`time` must be text"],
    ["a schema that is not a URI", { ...core, dataschema: "schema" }, "`dataschema`"],
    ["an attribute's name in capitals", { ...core, myExtension: 1 }, '"myExtension"'],
    ["an attribute that is an object", { ...core, extension: {} }, "`extension` must be"],
    ["data twice", { ...core, data: 1, data_base64: "AA==" }, "both `data` and `data_base64`"],
    ["base64 that is none", { ...core, data_base64: "***" }, "`data_base64`"],
  ];

  test.each(refused)("%s is rejected", async (_, envelope, says) => {
    const answer = await call(envelope);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
  });

  test.each([
    ["application/cloudevents-batch+json", "[]", "send one event a request"],
    ["application/cloudevents+avro", "x", "send application/cloudevents+json"],
  ])("%s is rejected", async (type, body, says) => {
    const answer = await call(body, type);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
  });
});

describe("binary mode", () => {
  const headers = Object.fromEntries(Object.entries(core).map(([name, value]) => [`ce-${name}`, value]));
  const bytes = new Uint8Array([0xff, 0, 0x41]);

  const rows: [what: string, type: string | undefined, body: string | Uint8Array, args: object][] = [
    ["an object", "application/json", '{"a":1}', { a: 1 }],
    ["an array", "application/json", "[1]", { body: [1] }],
    ["a +json type", "application/vnd.thing+json", '{"a":1}', { a: 1 }],
    ["text", "text/plain", "hello", { body: "hello" }],
    ["text in another charset", "text/plain; charset=latin1", new Uint8Array([0xfc]), { body: "ü" }],
    ["XML", "application/xml", "<a/>", { body: "<a/>" }],
    ["a form", "application/x-www-form-urlencoded", "a=1", { a: "1" }],
    ["bytes", "image/png", bytes, { body: "/wBB" }],
    ["bytes that could be text", "application/octet-stream", "A", { body: "QQ==" }],
    ["nothing", "application/json", "", {}],
    ["nothing as text", "text/plain", "", {}],
    ["no type", undefined, new TextEncoder().encode('{"a":1}'), { a: 1 }],
  ];

  test.each(rows)("%s", async (_, type, body, args) => {
    const answer = await send(body, { ...headers, ...(type ? { "content-type": type } : {}) });
    const metadata = type ? { ...core, datacontenttype: type } : core;
    expect([answer.status, answer.json()]).toEqual([200, { ...args, WEBHOOK__METADATA__: metadata }]);
  });

  test("attributes are percent-decoded, and unquoted", async () => {
    const answer = await send("{}", {
      ...headers,
      "content-type": "application/json",
      "ce-subject": "Gr%C3%BC%C3%9Fe 100%25",
      "ce-extension": '"a \\"b\\""',
    });
    expect(answer.json().WEBHOOK__METADATA__).toEqual({
      ...core,
      datacontenttype: "application/json",
      subject: "Grüße 100%",
      extension: 'a "b"',
    });
  });

  test("the extras requested by the URL", async () => {
    const answer = await send("[1 ]", { ...headers, "content-type": "application/json" }, "?raw=true");
    expect(answer.json()).toMatchObject({ body: [1], raw_string: "[1 ]" });
  });

  const refused: [what: string, change: Record<string, string>, says: string][] = [
    ["no type", { "ce-type": "" }, "`type` must be text"],
    ["no version", { "ce-specversion": "" }, "`specversion` must be text"],
    ["a time that is none", { "ce-time": "now" }, "`time`"],
    ["a bad escape", { "ce-subject": "%zz" }, "ce-subject"],
    ["an attribute's name with a dash", { "ce-my-extension": "1" }, '"my-extension"'],
  ];

  test.each(refused)("%s is rejected", async (_, change, says) => {
    const answer = await send("{a", { ...headers, "content-type": "application/json", ...change });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
  });

  test.each([
    ["ce-id", "1", "`specversion` is missing"],
    ["ce-specversion", "1.0", "`id` is missing"],
  ])("%s alone makes an event, which is not valid", async (name, value, says) => {
    const answer = await send("{}", { [name]: value });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
  });
});

describe("a sender that requests permission to deliver", () => {
  const origin = "eventemitter.example.com";
  const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/api/w/acme/${path}`, {
      method,
      headers: { "webhook-request-origin": origin, ...headers },
    });
  const granted = (response: Response) => [
    response.headers.get("webhook-allowed-origin"),
    response.headers.get("webhook-allowed-rate"),
  ];

  test.each(["run", "run_wait_result", "run_and_stream"])("gets it at %s", async (form) => {
    for (const path of [`jobs/${form}/p/u/admin/args`, `jobs/${form}/h/0123456789abcdef`]) {
      const response = await ask("OPTIONS", path, { "webhook-request-rate": "120" });
      expect([response.status, response.headers.get("allow")]).toEqual([204, "POST"]);
      expect(granted(response)).toEqual([origin, "*"]);
      expect(granted(await ask("HEAD", path))).toEqual([origin, "*"]);
    }
  });

  test("gets it again with each delivery", async () => {
    const authorization = `Bearer ${token}`;
    const response = await ask("POST", "jobs/run_wait_result/p/u/admin/args", { authorization });
    expect([response.status, ...granted(response)]).toEqual([200, origin, "*"]);
  });

  test("gets none for other requests, or without asking", async () => {
    expect(granted(await ask("OPTIONS", "jobs_u/completed/get/x"))).toEqual([null, null]);
    const silent = await fetch(url, { method: "OPTIONS" });
    expect([silent.status, ...granted(silent)]).toEqual([204, null, null]);
  });
});
