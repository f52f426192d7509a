/** Object storage: the same calls on a folder of the server and on a bucket. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expectOk, until } from "../../../support/harness.ts";
import {
  askAs,
  bucket,
  fetchRaw,
  HELPERS,
  query,
  server,
  setUpStorage,
  tokensByUser,
} from "./storage-setup.ts";

setUpStorage();

/** Bytes that differ at each position. */
function bytes(count: number): Uint8Array<ArrayBuffer> {
  const made = new Uint8Array(count);
  for (let at = 0; at < count; at++) made[at] = (at * 31 + (at >> 8) * 7) & 255;
  return made;
}

/** Sends a request line by line, and disconnects. */
function breakOff(text: string, headers: string[], path: string, until_?: Promise<unknown>): Promise<void> {
  const { hostname, port } = new URL(server.url);
  const head = [
    `POST /api${HELPERS}${path} HTTP/1.1`,
    "host: x",
    `authorization: Bearer ${tokensByUser.dev}`,
    ...headers,
  ];
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, async () => {
      socket.write(`${head.join("\r\n")}\r\n\r\n${text}`);
      await until_;
      socket.destroy();
    });
    socket.on("close", () => resolve());
    socket.on("error", reject);
  });
}

describe.each([
  ["filesystem", undefined],
  ["S3", "bucket"],
])("files in the storage: %s", (_, storage) => {
  const put = (file_key: string | undefined, body: string | Uint8Array<ArrayBuffer>, more: object = {}) =>
    fetchRaw("POST", `/upload_s3_file${query({ file_key, storage, ...more })}`, { body });
  const stored = async (file_key: string | undefined, body: string | Uint8Array<ArrayBuffer>, more = {}) => {
    const answer = await put(file_key, body, more);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
    return ((await answer.json()) as { file_key: string }).file_key;
  };
  const get = (file_key: string, headers: Record<string, string> = {}, more: object = {}) =>
    fetchRaw("GET", `/download_s3_file${query({ file_key, storage, ...more })}`, { headers });
  const text = async (file_key: string) => (await get(file_key)).text();
  const list = async (fields: Record<string, string> = {}) => {
    const answer = await expectOk(
      askAs.dev!("GET", `${HELPERS}/list_stored_files${query({ storage, ...fields })}`),
    );
    const { windmill_large_files, next_marker } = answer.json();
    return [windmill_large_files.map(({ s3 }: any) => s3), next_marker];
  };

  test("are returned unchanged, with type, length and name", async () => {
    const data = bytes(300_000);
    expect(await stored("here/dir/photo ü.jpg", data)).toBe("here/dir/photo ü.jpg");
    const answer = await get("here/dir/photo ü.jpg");
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer()).equals(data)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "image/jpeg",
      "content-disposition": "attachment; filename=\"photo _.jpg\"; filename*=UTF-8''photo%20%C3%BC.jpg",
      "accept-ranges": "bytes",
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox",
    });
    // Bun omits the length of a body that it forwards (oven-sh/bun#10507).
    if (!storage) expect(answer.headers.get("content-length")).toBe("300000");
    const facts = (
      await askAs.dev!(
        "GET",
        `${HELPERS}/load_file_metadata${query({ storage, file_key: "here/dir/photo ü.jpg" })}`,
      )
    ).json();
    expect(facts).toMatchObject({ mime_type: "image/jpeg", size_in_bytes: 300_000 });
    expect(Date.now() - Date.parse(facts.last_modified)).toBeLessThan(60_000);
  });

  test("replace each other, may be empty, and larger than the limit of other bodies", async () => {
    for (const body of ["first", "", "a longer second", bytes(12_000_000)]) {
      await stored("replaced.bin", body);
      const answer = await get("replaced.bin");
      if (!storage) expect(answer.headers.get("content-length")).toBe(String(body.length));
      expect(Buffer.from(await answer.arrayBuffer()).equals(Buffer.from(body as string))).toBe(true);
    }
  });

  test("keep the given type and name, also after a move", async () => {
    const wishes = { content_type: "text/x-thing", content_disposition: "inline; filename=it" };
    const told = async (key: string, more = {}) => {
      const { headers } = await get(key, {}, more);
      return [headers.get("content-type"), headers.get("content-disposition")];
    };
    await stored("wishes/a.html", "<b>", wishes);
    expect(await told("wishes/a.html")).toEqual(["text/x-thing", "inline; filename=it"]);
    expect(await told("wishes/a.html", { content_disposition: "attachment" })).toEqual([
      "text/x-thing",
      "attachment",
    ]);
    const to = { src_file_key: "wishes/a.html", dest_file_key: "wishes/b.html", storage };
    await expectOk(askAs.dev!("GET", `${HELPERS}/move_s3_file${query(to)}`));
    expect(await told("wishes/b.html")).toEqual(["text/x-thing", "inline; filename=it"]);
    await stored("wishes/b.html", "<b>");
    expect((await told("wishes/b.html"))[1]).toBe('attachment; filename="b.html"');
    for (const bad of [{ content_type: "a\nb: c" }, { content_disposition: "ü" }])
      expect((await put("wishes/c.html", "x", bad)).status).toBe(400);
  });

  test.each([
    ["bytes=0-1", 206, "01", "bytes 0-1/10"],
    ["bytes=3-5", 206, "345", "bytes 3-5/10"],
    ["bytes=7-", 206, "789", "bytes 7-9/10"],
    ["bytes=8-100", 206, "89", "bytes 8-9/10"],
    ["bytes=-4", 206, "6789", "bytes 6-9/10"],
    ["bytes=-40", 206, "0123456789", "bytes 0-9/10"],
    ["bytes=10-", 416, "", "bytes */10"],
    ["bytes=-0", 416, "", "bytes */10"],
    ["bytes=5-3", 200, "0123456789", null],
    ["bytes=0-1,3-4", 200, "0123456789", null],
    ["lines=1-2", 200, "0123456789", null],
  ])("are read in part: %s", async (range, status, body, says) => {
    await stored("range.txt", "0123456789");
    const answer = await get("range.txt", { range });
    expect([answer.status, answer.headers.get("content-range"), await answer.text()]).toEqual([
      status,
      says,
      body,
    ]);
    if (!storage && status === 206) expect(answer.headers.get("content-length")).toBe(String(body.length));
  });

  test("are read further only as long as they are unchanged", async () => {
    await stored("if-range.txt", "0123456789");
    const etag = (await get("if-range.txt")).headers.get("etag")!;
    const part = async () => (await get("if-range.txt", { range: "bytes=5-", "if-range": etag })).text();
    expect(await part()).toBe("56789");
    await stored("if-range.txt", "abcdefghij");
    expect(await part()).toBe("abcdefghij");
  });

  test("get a generated key with their extension if none is given", async () => {
    const keys = [await stored(undefined, "a", { file_extension: "csv" }), await stored(undefined, "b")];
    expect(keys[0]).toMatch(/^svc_uploads\/upload_\w{24}\.csv$/);
    expect(keys[1]).toMatch(/^svc_uploads\/upload_\w{24}$/);
    expect(await Promise.all(keys.map(text))).toEqual(["a", "b"]);
    expect(await stored(undefined, "c", { file_extension: "../x" })).toMatch(/^svc_uploads\/upload_\w{24}$/);
  });

  test("are listed in order, by prefix and in pages", async () => {
    const keys = ["l/a.txt", "l/a/deep/1", "l/a0", "l/b/1", "l/b/2", "l/c"];
    for (const key of keys) await stored(key, "x");
    // The S3 replacement of the tests sorts only within one folder.
    const found = (await list({ prefix: "l/" }))[0];
    expect(storage ? found.sort() : found).toEqual(keys);
    expect((await list({ prefix: "l/a" }))[0].sort()).toEqual(keys.slice(0, 3));
    expect(await list({ prefix: "l/b/" })).toEqual([["l/b/1", "l/b/2"], undefined]);
    expect(await list({ prefix: "none" })).toEqual([[], undefined]);
    const paged = async (prefix: string, max_keys: string) => {
      const pages: string[][] = [];
      for (let marker: string | undefined = ""; marker !== undefined; ) {
        const [page, next] = await list({ prefix, max_keys, marker });
        pages.push(page);
        marker = next;
      }
      return pages;
    };
    expect(await paged("l/b/", "1")).toEqual([["l/b/1"], ["l/b/2"]]);
    if (!storage) expect(await paged("l/", "4")).toEqual([keys.slice(0, 4), keys.slice(4)]);
    expect((await list({ max_keys: "1" }))[0]).toHaveLength(1);
    expect((await askAs.dev!("GET", `${HELPERS}/test_connection${query({ storage })}`)).status).toBe(200);
    await stored("l/wished", "x", { content_type: "text/x-wished" });
    expect((await list())[0].some((key: string) => key.startsWith(".svc"))).toBe(false);
    for (const max_keys of ["0", "1001", "x"]) {
      expect(
        (await askAs.dev!("GET", `${HELPERS}/list_stored_files${query({ storage, max_keys })}`)).status,
      ).toBe(400);
    }
  });

  test("are moved onto existing ones, and deleted", async () => {
    await stored("m/from/here.txt", "moved");
    await stored("m/to.txt", "replaced");
    const move = (src_file_key: string, dest_file_key: string) =>
      askAs.dev!("GET", `${HELPERS}/move_s3_file${query({ storage, src_file_key, dest_file_key })}`);
    await expectOk(move("m/from/here.txt", "m/to.txt"));
    expect(await text("m/to.txt")).toBe("moved");
    expect(await list({ prefix: "m/" })).toEqual([["m/to.txt"], undefined]);
    await expectOk(move("m/to.txt", "m/to.txt"));
    expect(await text("m/to.txt")).toBe("moved");
    const remove = () =>
      askAs.dev!("DELETE", `${HELPERS}/delete_s3_file${query({ storage, file_key: "m/to.txt" })}`);
    await expectOk(remove());
    expect(await list({ prefix: "m/" })).toEqual([[], undefined]);
    await stored("m/only/child.txt", "x");
    await expectOk(
      askAs.dev!("DELETE", `${HELPERS}/delete_s3_file${query({ storage, file_key: "m/only/child.txt" })}`),
    );
    await stored("m/only", "a file now");
    // The folder existed only for its files, so the path is free.
    await stored("m/from", "a file now");
    expect((await remove()).status).toBe(404);
    expect((await move("m/to.txt", "m/x")).status).toBe(404);
  });

  test("that do not exist are answered with 404", async () => {
    for (const path of ["download_s3_file", "load_file_metadata", "load_file_preview"]) {
      const answer = await askAs.dev!(
        "GET",
        `${HELPERS}/${path}${query({ storage, file_key: "no/such.txt" })}`,
      );
      expect([path, answer.status, answer.text]).toEqual([path, 404, "Not found: file no/such.txt"]);
    }
  });

  test("are previewed if they are text", async () => {
    const preview = async (file_key: string, more: object = {}) =>
      (
        await expectOk(
          askAs.dev!("GET", `${HELPERS}/load_file_preview${query({ storage, file_key, ...more })}`),
        )
      ).json();
    await stored("p/a.csv", "a,b\n1,2\n");
    await stored("p/a.txt", "äöü".repeat(50_000));
    await stored("p/a.bin", new Uint8Array([1, 0, 2]));
    await stored("p/empty", "");
    expect(await preview("p/a.csv")).toEqual({ content_type: "Csv", content: "a,b\n1,2\n" });
    expect(await preview("p/a.bin")).toEqual({ content_type: "Unknown", msg: "the file is not text" });
    expect(await preview("p/empty")).toEqual({ content_type: "RawText", content: "" });
    const { content, content_type } = await preview("p/a.txt");
    expect([content_type, Buffer.byteLength(content), "äöü".repeat(50_000).startsWith(content)]).toEqual([
      "RawText",
      128_000,
      true,
    ]);
    // From inside one character to the middle of another.
    expect((await preview("p/a.txt", { read_bytes_from: "1", read_bytes_length: "4" })).content).toBe("ö");
    expect((await preview("p/a.txt", { read_bytes_from: "1000000" })).content).toBe("");
    const large = await askAs.dev!(
      "GET",
      `${HELPERS}/load_file_preview${query({ file_key: "p/a.txt", read_bytes_length: "1000001" })}`,
    );
    expect(large.status).toBe(400);
  });

  test.each([
    ["a sender that hangs up, with its length told", ["content-length: 9000000"]],
    ["a sender that hangs up within a chunk", ["transfer-encoding: chunked"]],
  ])("stay unchanged after %s", async (_, headers) => {
    await stored("broken.txt", "whole");
    // More than one part of an upload, less than the whole.
    const piece = "x".repeat(8_500_000);
    const chunked = headers[0]!.startsWith("transfer") ? `${(9_000_000).toString(16)}\r\n${piece}` : piece;
    const incoming = join(server.data_dir, "storage/acme/_default_/.svc/incoming");
    const begun = until(() => {
      const under_way = storage ? bucket.unfinished() : existsSync(incoming) ? readdirSync(incoming) : [];
      return under_way.length > 0 ? true : undefined;
    }, "the upload to begin");
    await breakOff(chunked, headers, `/upload_s3_file${query({ file_key: "broken.txt", storage })}`, begun);
    await until(
      () => (existsSync(incoming) && readdirSync(incoming).length > 0 ? undefined : true),
      "no remains",
    );
    expect(await text("broken.txt")).toBe("whole");
    expect((await list({ prefix: "broken" }))[0]).toEqual(["broken.txt"]);
  });

  test("beyond the upload limit are rejected, announced or not, and leave nothing", async () => {
    const announced = await put("large.bin", new Uint8Array(20_000_001));
    expect([announced.status, await announced.text()]).toEqual([413, expect.stringContaining("20 MB")]);
    async function* pieces() {
      for (let n = 0; n < 21; n++) yield new Uint8Array(1_000_000);
    }
    const path = `/upload_s3_file${query({ file_key: "large.bin", storage })}`;
    const streamed = await fetchRaw("POST", path, { body: new Response(pieces() as never).body! });
    expect(streamed.status).toBe(413);
    expect((await list({ prefix: "large" }))[0]).toEqual([]);
  });
});
