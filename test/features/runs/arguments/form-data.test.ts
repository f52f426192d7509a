/** multipart/form-data in webhooks: contract §4.10 rule 7. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";
import { type Bucket, startBucket } from "../../../support/peers/bucket.ts";

let server: TestServer;
let bucket: Bucket;

beforeAll(async () => {
  [server, bucket] = await Promise.all([
    startTestServer({ max_body_mb: 12, allowed_targets: "127.0.0.1" }),
    startBucket(),
  ]);
});
afterAll(async () => {
  await server.stop();
  await bucket.stop();
});

/** A workspace with a script that accepts any arguments, and a token that may only run it. */
async function workspace(id: string, storage: object | undefined) {
  const { ask, token } = await server.workspace(id);
  await deploy(ask, id, "u/admin/form", "export const main = (...all: any[]) => 0");
  const resource = { path: "u/admin/bucket", value: bucket.resource, resource_type: "s3" };
  await expectOk(ask("POST", `/w/${id}/resources/create`, resource));
  if (storage) {
    const settings = { large_file_storage: storage };
    await expectOk(ask("POST", `/w/${id}/workspaces/edit_large_file_storage_config`, settings));
  }
  const scopes = ["jobs:run:scripts:u/admin/form"];
  const runner = (await expectOk(ask("POST", "/users/tokens/create", { scopes, workspace_id: id }))).text;
  const keys = async (): Promise<string[]> =>
    (await expectOk(ask("GET", `/w/${id}/job_helpers/list_stored_files`)))
      .json()
      .windmill_large_files.map(({ s3 }: any) => s3);
  const read = async (s3: string) => {
    const path = `/api/w/${id}/job_helpers/download_s3_file?file_key=${encodeURIComponent(s3)}`;
    return Buffer.from(
      await (await fetch(server.url + path, { headers: { authorization: `Bearer ${token}` } })).arrayBuffer(),
    );
  };
  return { id, ask, runner, keys, read };
}

/** Starts a job with a form. */
const send = (
  id: string,
  token: string,
  body: FormData | string | ReadableStream,
  type?: string,
  query = "",
) =>
  fetch(`${server.url}/api/w/${id}/jobs/run/p/u/admin/form${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "x-sign": "abc", ...(type ? { "content-type": type } : {}) },
    body,
  });

async function argsOf(ask: Ask, id: string, response: Response) {
  const text = await response.text();
  expect([response.status, text]).toEqual([201, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  return (await expectOk(ask("GET", `/w/${id}/jobs_u/get_args/${text}`))).json();
}

const TYPE = "multipart/form-data; boundary=xx";
/** A part, as in the body. */
const part = (head: string, body: string) =>
  `--xx\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;

describe.each([
  ["files", { type: "FilesystemStorage" }],
  ["bucket", { type: "S3Storage", s3_resource_path: "u/admin/bucket" }],
])("a form, with the storage of %s", (id, storage) => {
  let place: Awaited<ReturnType<typeof workspace>>;
  beforeAll(async () => {
    place = await workspace(id, storage);
  });

  test("has text fields as strings and files as references to stored files", async () => {
    const data = Buffer.alloc(9_000_000, "something large ");
    const form = new FormData();
    form.append("name", "Ann ü");
    form.append("empty", "");
    form.append("tag", "one");
    form.append("file", new File([data], "räport.final.CSV", { type: "text/csv" }));
    form.append("many", new File(["first"], "a.txt"));
    form.append("tag", "two");
    form.append("many", new File([], "b"));
    form.append("blob", new Blob(["bytes"]));
    form.append("json", new File(['{"a":1}'], "x.json", { type: "application/json" }));
    form.append("__proto__", "a text like any other");
    const args = await argsOf(place.ask, id, await send(id, place.runner, form));
    const reference = (extension: string) => ({
      s3: expect.stringMatching(new RegExp(`^svc_uploads/upload_\\w{24}${extension}$`)),
    });
    expect(Object.keys(args)).toContain("__proto__");
    expect({ ...args }).toEqual({
      name: "Ann ü",
      empty: "",
      tag: ["one", "two"],
      file: [reference("\\.CSV")],
      many: [reference("\\.txt"), reference("")],
      blob: [reference("")],
      json: [reference("\\.json")],
      ["__proto__"]: "a text like any other",
    });
    expect((await place.read(args.file[0].s3)).equals(data)).toBe(true);
    const texts = [...args.many, ...args.blob].map(async ({ s3 }) => (await place.read(s3)).toString());
    expect(await Promise.all(texts)).toEqual(["first", "", "bytes"]);
  });

  test("is parsed as sent by browsers and other clients", async () => {
    const before = await place.keys();
    const body = [
      "a preamble\r\n",
      part('name="not chosen"; filename=""\r\nContent-Type: application/octet-stream', ""),
      part('name="typed"\r\nContent-Type: text/plain; charset=utf-8', "typed, and no file"),
      part('name="mixed"', "text"),
      part('name="mixed"; filename="C:\\dir\\up/../name.tar.gz"', "file"),
      "--xx--\r\nan epilogue",
    ].join("");
    const args = await argsOf(place.ask, id, await send(id, place.runner, body, TYPE));
    expect(args).toEqual({
      "not chosen": [],
      typed: "typed, and no file",
      mixed: ["text", { s3: expect.stringMatching(/^svc_uploads\/upload_\w{24}\.gz$/) }],
    });
    expect(await place.keys()).toHaveLength(before.length + 1);
    const empty = await argsOf(place.ask, id, await send(id, place.runner, "--xx--\r\n", TYPE));
    expect(empty).toEqual({});
  });

  test("includes headers and query, may be wrapped, and is available as raw text on request", async () => {
    const body = `${part('name="a"', "1")}--xx--\r\n`;
    const query = "?wrap_body=true&include_header=x-sign&include_query=q&q=2";
    const args = await argsOf(place.ask, id, await send(id, place.runner, body, TYPE, query));
    expect(args).toEqual({ body: { a: "1" }, x_sign: "abc", q: "2" });
    const whole = `${part('name="f"; filename="f.txt"', "in a file")}${body}`;
    const raw = await argsOf(place.ask, id, await send(id, place.runner, whole, TYPE, "?raw=true"));
    const s3 = expect.stringMatching(/^svc_uploads\//);
    expect(raw).toEqual({ a: "1", f: [{ s3 }], raw_string: whole });
  });

  const file = part('name="f"; filename="f.bin"', "x".repeat(100_000));
  const refused: [what: string, type: string, body: string, status: number, says: string][] = [
    ["without its end", TYPE, `${file}${part('name="g"; filename="g"', "y")}`, 400, "form-data"],
    ["broken off in a file", TYPE, file.slice(0, 50_000), 400, "form-data"],
    ["that is something else", TYPE, "hello", 400, "form-data"],
    ["without a boundary", "multipart/form-data", `${file}--xx--`, 400, "form-data"],
    ["of another kind", "multipart/mixed; boundary=xx", `${file}--xx--`, 400, "form-data"],
    ["with a part that has no name", TYPE, `${file}${part("x=y", "1")}--xx--`, 400, "has no name"],
    [
      "of too many parts",
      TYPE,
      `${file}${part('name="a"', "1").repeat(1000)}--xx--`,
      400,
      "more than 1000 parts",
    ],
    [
      "beyond the limit of bodies",
      TYPE,
      `${file}${part('name="f"; filename="g.bin"', "x".repeat(12_000_000))}--xx--`,
      413,
      "12 MB",
    ],
  ];
  test.each(refused)("%s is rejected, and leaves nothing", async (_, type, body, status, says) => {
    const before = await place.keys();
    const pieces = async function* () {
      for (let at = 0; at < body.length; at += 65_536)
        yield new TextEncoder().encode(body.slice(at, at + 65_536));
    };
    for (const sent of [body, new Response(pieces() as never).body!]) {
      const answer = await send(id, place.runner, sent, type);
      expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(says)]);
    }
    expect(await place.keys()).toEqual(before);
  });

  test("whose job is rejected, or whose sender disconnects, leaves nothing", async () => {
    const before = await place.keys();
    const job_id = await (await send(id, place.runner, "{}", "application/json")).text();
    const again = await send(id, place.runner, `${file}--xx--\r\n`, TYPE, `?job_id=${job_id}`);
    expect([again.status, await again.text()]).toEqual([400, expect.stringContaining("already")]);
    expect(await place.keys()).toEqual(before);
    const { hostname, port } = new URL(server.url);
    const head = [
      `POST /api/w/${id}/jobs/run/p/u/admin/form HTTP/1.1`,
      "host: x",
      `authorization: Bearer ${place.runner}`,
      `content-type: ${TYPE}`,
      "content-length: 1000000",
    ];
    await new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(`${head.join("\r\n")}\r\n\r\n${file}${file.slice(0, 50_000)}`);
      });
      socket.on("close", resolve);
      // The first file is stored, the second one being uploaded.
      const stored = until(
        async () => ((await place.keys()).length > before.length ? true : undefined),
        "a file",
      );
      stored.then(() => socket.destroy());
    });
    await until(async () => ((await place.keys()).length === before.length ? true : undefined), "no remains");
    expect(await place.keys()).toEqual(before);
  });
});

test("without a storage a form is rejected with the reason", async () => {
  const place = await workspace("nowhere", undefined);
  const answer = await send(place.id, place.runner, `${part('name="a"', "1")}--xx--\r\n`, TYPE);
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("no object storage")]);
});

test("an unreachable storage is reported without waiting for the form", async () => {
  const place = await workspace("away", { type: "S3Storage", s3_resource_path: "u/admin/bucket" });
  const value = { ...bucket.resource, endPoint: "127.0.0.1:1" };
  await expectOk(place.ask("POST", "/w/away/resources/update_value/u/admin/bucket", { value }));
  const body = `${part('name="f"; filename="f.bin"', "x".repeat(11_000_000))}--xx--`;
  const answer = await send("away", place.runner, body, TYPE);
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining("cannot be used now")]);
});

test("a form repeated with its idempotency key starts no second job and stores nothing twice", async () => {
  const { id, ask, runner, keys } = await workspace("again", { type: "FilesystemStorage" });
  const again = async () => {
    const form = new FormData();
    form.append("file", new File(["content"], "a.txt"));
    const answer = await fetch(`${server.url}/api/w/${id}/jobs/run/p/u/admin/form`, {
      method: "POST",
      headers: { authorization: `Bearer ${runner}`, "idempotency-key": "form" },
      body: form,
    });
    return [answer.status, await answer.text()];
  };
  const first = await again();
  expect(await again()).toEqual(first);
  const { file } = (await expectOk(ask("GET", `/w/${id}/jobs_u/get_args/${first[1]}`))).json();
  expect(await keys()).toEqual([file[0].s3]);
});
