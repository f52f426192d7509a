/** Confinement of a workspace to its object storage, and a folder of the server as the storage. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectOk, startTestServer } from "../../../support/harness.ts";
import { askAs, fetchRaw, HELPERS, query, server, setUpStorage } from "./storage-setup.ts";

setUpStorage();

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

  test("have keys that cannot leave the storage", async () => {
    const bad = [
      "",
      "/etc/passwd",
      "../up",
      "a/../../b",
      "a/..",
      "./a",
      "a//b",
      "a/",
      "a\\b",
      "a\u0001b",
      "x".repeat(1025),
    ];
    for (const key of bad) {
      const answers = [
        ...(key === "" ? [] : [await put(key, "x")]),
        await get(key),
        await fetchRaw("DELETE", `/delete_s3_file${query({ storage, file_key: key })}`),
        await fetchRaw(
          "GET",
          `/move_s3_file${query({ storage, src_file_key: "range.txt", dest_file_key: key })}`,
        ),
      ];
      expect([key, ...new Set(answers.map(({ status }) => status))]).toEqual([key, 400]);
    }
    const odd = [
      "ü/ö.txt",
      "a b+c&d=e?f#g%20h.txt",
      "%2e%2e/x",
      "..a/b..",
      "quote'\".txt",
      ":@!*()[]{}|^~`<>;,",
    ];
    for (const key of odd) {
      await stored(key, `content of ${key}`);
      expect(await text(key)).toBe(`content of ${key}`);
      expect((await list({ prefix: key }))[0]).toEqual([key]);
    }
  });
});

describe("a folder of the server", () => {
  const file = (key: string) => join(server.data_dir, "storage/acme/_default_", key);
  const upload = (file_key: string, body = "x") =>
    fetchRaw("POST", `/upload_s3_file${query({ file_key })}`, { body });
  const download = (file_key: string) => fetchRaw("GET", `/download_s3_file${query({ file_key })}`);

  test("stores each file at the path of its key, separately for each storage", async () => {
    await upload("plain/file.txt", "as it is");
    expect(readFileSync(file("plain/file.txt"), "utf8")).toBe("as it is");
    await fetchRaw("POST", `/upload_s3_file${query({ file_key: "plain/file.txt", storage: "other" })}`, {
      body: "apart",
    });
    expect(await (await download("plain/file.txt")).text()).toBe("as it is");
    expect(readFileSync(file("../other/plain/file.txt"), "utf8")).toBe("apart");
  });

  test("cannot be left through links, and serves regular files only", async () => {
    const outside = join(server.data_dir, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "secret.txt"), "out of reach");
    symlinkSync(outside, file("link"));
    symlinkSync(join(outside, "secret.txt"), file("linked.txt"));
    for (const key of ["link/secret.txt", "link/new.txt", "linked.txt", ".svc/incoming/x", ".SVC/x"]) {
      const answers = [
        await upload(key),
        await download(key),
        await fetchRaw("DELETE", `/delete_s3_file${query({ file_key: key })}`),
        await fetchRaw("GET", `/move_s3_file${query({ src_file_key: key, dest_file_key: "got.txt" })}`),
        await fetchRaw(
          "GET",
          `/move_s3_file${query({ src_file_key: "plain/file.txt", dest_file_key: key })}`,
        ),
      ];
      expect([key, ...new Set(answers.map(({ status }) => status))]).toEqual([key, 400]);
    }
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("out of reach");
    const listed = (await askAs.dev!("GET", `${HELPERS}/list_stored_files?prefix=link`)).json();
    expect(listed.windmill_large_files).toEqual([]);
    expect((await download("plain")).status).toBe(404);
    expect((await download("plain/file.txt/below")).status).toBe(404);
  });

  test("reports conflicting files", async () => {
    await upload("way/file", "x");
    const cases: [key: string, says: string][] = [
      ["way/file/below", "is below a file, which is not a folder"],
      ["way", "is a folder"],
      [`way/${"x".repeat(256)}`, "longer than 255 bytes"],
    ];
    for (const [key, says] of cases) {
      const answer = await upload(key);
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(says)]);
    }
  });

  test("keeps one of concurrent uploads to one key, with its own type", async () => {
    const kinds = { "text/html": "<script>", "text/plain": "plain", "image/png": "a picture" };
    const key = { file_key: "same/key.bin" };
    const wishes = () =>
      readdirSync(file(".svc"), { recursive: true })
        .map(String)
        .filter((each) => each.includes("/"))
        .sort();
    const before = wishes();
    for (let round = 0; round < 40; round++) {
      const uploads = Object.entries(kinds).map(([content_type, body]) =>
        fetchRaw("POST", `/upload_s3_file${query({ ...key, content_type })}`, { body }),
      );
      await Promise.all([...uploads, upload(key.file_key, "as it is")]);
      const answer = await download(key.file_key);
      const type = answer.headers.get("content-type")!;
      expect([round, await answer.text()]).toEqual([round, kinds[type as "text/html"] ?? "as it is"]);
    }
    expect((await fetchRaw("DELETE", `/delete_s3_file${query(key)}`)).status).toBe(200);
    expect(wishes()).toEqual(before);
  });

  test("contains no remains of a killed server", async () => {
    const own = await startTestServer();
    await own.workspace();
    const incoming = join(own.data_dir, "storage/acme/_default_/.svc/incoming");
    mkdirSync(incoming, { recursive: true });
    writeFileSync(join(incoming, "half"), "half a file");
    const put = (path: string, body: unknown) => own.operator("POST", `/w/acme/${path}`, body);
    const settings = { large_file_storage: { type: "FilesystemStorage" } };
    await expectOk(put("workspaces/edit_large_file_storage_config", settings));
    await expectOk(put("job_helpers/upload_s3_file?file_key=a", "x"));
    expect(readdirSync(incoming)).toEqual([]);
    await own.stop();
  });
});
