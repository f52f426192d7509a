/** Rights to use a workspace's object storage, and its settings. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { type Bucket, startBucket } from "../../../support/peers/bucket.ts";

let server: TestServer;
let bucket: Bucket;
const as: Record<string, Ask> = {};

beforeAll(async () => {
  [server, bucket] = await Promise.all([startTestServer({ allowed_targets: "127.0.0.1" }), startBucket()]);
  as.admin = (await server.workspace()).ask;
  as.dev = (await server.member("acme", "dev")).ask;
  as.ops = (await server.member("acme", "ops", "operator")).ask;
  const secret = { path: "u/admin/s3_secret", value: "S3RVER", is_secret: true, description: "" };
  await expectOk(as.admin!("POST", "/w/acme/variables/create", secret));
  await createResource("u/admin/bucket", { ...bucket.resource, secretKey: "$var:u/admin/s3_secret" });
  const secondary_storage = { bucket: { type: "S3Storage", s3_resource_path: "$res:u/admin/bucket" } };
  await expectOk(configure({ type: "FilesystemStorage", secondary_storage }));
});
afterAll(async () => {
  await server.stop();
  await bucket.stop();
});

const h = "/w/acme/job_helpers";

const createResource = (path: string, value: unknown, ask = as.admin!) =>
  expectOk(ask("POST", "/w/acme/resources/create", { path, value, resource_type: "s3" }));
const configure = (large_file_storage: unknown, ask = as.admin!) =>
  ask("POST", "/w/acme/workspaces/edit_large_file_storage_config", { large_file_storage });
const query = (fields: Record<string, string>) => `?${new URLSearchParams(fields)}`;

describe("access to the storage", () => {
  const upload = (ask: Ask, more = {}) =>
    ask("POST", `${h}/upload_s3_file${query({ file_key: "who.txt", ...more })}`, "x");
  const remove = (ask: Ask) => ask("DELETE", `${h}/delete_s3_file?file_key=who.txt`);

  test("members have it; operators store and read, but do not delete; others have none", async () => {
    const stranger = (await server.user("stranger")).ask;
    for (const [ask, status] of [
      [as.dev!, 200],
      [stranger, 401],
      [server.as(undefined), 401],
    ] as const) {
      expect((await upload(ask)).status).toBe(status);
      expect((await ask("GET", `${h}/download_s3_file?file_key=who.txt`)).status).toBe(status);
    }
    // They can read it, but not change it.
    expect((await upload(as.ops!)).status).toBe(403);
    expect((await upload(as.ops!, { file_key: "new.txt" })).status).toBe(200);
    expect((await upload(as.ops!, { file_key: "" })).status).toBe(200);
    expect((await as.ops!("GET", `${h}/download_s3_file?file_key=who.txt`)).status).toBe(200);
    expect((await remove(as.ops!)).status).toBe(403);
    expect((await as.ops!("GET", `${h}/move_s3_file?src_file_key=who.txt&dest_file_key=b`)).status).toBe(403);
    expect((await remove(as.dev!)).status).toBe(200);
    const scopes = ["job_helpers:read"];
    const reader = server.as((await expectOk(as.dev!("POST", "/users/tokens/create", { scopes }))).text);
    expect((await reader("GET", `${h}/list_stored_files`)).status).toBe(200);
    expect((await upload(reader)).status).toBe(403);
    expect((await reader("GET", `${h}/move_s3_file?src_file_key=a&dest_file_key=b`)).status).toBe(403);
  });

  test("a named resource requires read access to it", async () => {
    await createResource("u/dev/bucket", bucket.resource, as.dev);
    const mine = { s3_resource_path: "$res:u/dev/bucket" };
    expect((await upload(as.dev!, mine)).status).toBe(200);
    expect((await upload(as.dev!, { s3_resource_path: "u/dev/bucket" })).status).toBe(200);
    const list = (by: Ask, fields: Record<string, string>) =>
      by("GET", `${h}/list_stored_files?${new URLSearchParams(fields)}`);
    expect((await list(as.dev!, mine)).text).toContain("who.txt");
    expect((await list(as.dev!, {})).text).not.toContain("who.txt");
    expect((await list(as.ops!, mine)).status).toBe(404);
    expect((await list(as.dev!, { ...mine, resource_type: "s3" })).status).toBe(200);
    expect((await list(as.dev!, { ...mine, resource_type: "azure_blob" })).status).toBe(400);
    expect((await upload(as.ops!, mine)).status).toBe(404);
    expect((await upload(as.dev!, { s3_resource_path: "u/admin/bucket" })).status).toBe(404);
    expect((await upload(as.dev!, { s3_resource_path: "u/dev/none" })).status).toBe(404);
    expect((await upload(as.dev!, { resource_type: "azure_blob" })).text).toContain(
      '"azure_blob" is not supported',
    );
    expect((await upload(as.dev!, { storage: "none" })).text).toContain('no storage called "none"');
    const reads = (await as.admin!("GET", "/w/acme/audit/list?operation=variables.decrypt_secret")).json();
    expect((await upload(as.admin!, { s3_resource_path: "u/admin/bucket" })).status).toBe(200);
    const after = (await as.admin!("GET", "/w/acme/audit/list?operation=variables.decrypt_secret")).json();
    expect(after[0]).toMatchObject({ resource: "u/admin/s3_secret", username: "admin" });
    expect(after).toHaveLength(reads.length + 1);
  });

  test("the keys of the workspace's bucket are returned to readers of its resource, or to all if configured", async () => {
    const info = (ask: Ask, body: object = { storage: "bucket" }) =>
      ask("POST", `${h}/v2/s3_resource_info`, body);
    expect((await info(as.dev!)).status).toBe(404);
    expect((await expectOk(info(as.admin!))).json()).toEqual(bucket.resource);
    expect((await info(as.dev!, {})).text).toContain("no S3 address");
    const { secretKey } = (await expectOk(info(as.dev!, { s3_resource_path: "u/dev/bucket" }))).json();
    expect(secretKey).toBe("S3RVER");
    const plain = { bucket: "b", accessKey: "a'", secretKey: "s", region: "eu-west-1", port: 9 };
    await createResource("u/admin/plain", plain);
    const path = { s3_resource_path: "u/admin/plain" };
    const settings = async (library: string) =>
      (await expectOk(as.admin!("POST", `${h}/v2/${library}_connection_settings`, path))).json();
    const duckdb = (await settings("duckdb")).connection_settings_str;
    expect(duckdb).toContain("SET s3_endpoint='s3.eu-west-1.amazonaws.com:9';");
    expect(duckdb).toContain("SET s3_access_key_id='a''';");
    expect(await settings("polars")).toMatchObject({
      s3fs_args: { endpoint_url: "https://s3.eu-west-1.amazonaws.com:9", key: "a'", use_ssl: true },
      storage_options: { aws_region: "eu-west-1", aws_allow_http: "false" },
    });
    const older = async (library: string) => {
      const s3_resource = { ...plain, endPoint: "", useSSL: true, pathStyle: true };
      return (await expectOk(as.dev!("POST", `${h}/${library}_connection_settings`, { s3_resource }))).json();
    };
    expect(await older("duckdb")).toEqual(await settings("duckdb"));
    expect(await older("polars")).toEqual((await settings("polars")).s3fs_args);
    await using own = await startTestServer({ allowed_targets: "127.0.0.1" });
    const admin = (await own.workspace()).ask;
    const dev = (await own.member("acme", "dev")).ask;
    await createResource("u/admin/bucket", bucket.resource, admin);
    const open = { type: "S3Storage", s3_resource_path: "u/admin/bucket", public_resource: true };
    await expectOk(configure(open, admin));
    expect((await expectOk(info(dev, {}))).json()).toEqual(bucket.resource);
    const [row] = (await admin("GET", "/w/acme/audit/list")).json();
    expect(row).toMatchObject({
      operation: "variables.decrypt_secret",
      username: "dev",
      resource: "u/admin/bucket",
    });
  });

  test("uploads, moves and deletions are in the audit log", async () => {
    await expectOk(upload(as.dev!));
    await expectOk(as.dev!("GET", `${h}/move_s3_file?src_file_key=who.txt&dest_file_key=moved.txt`));
    const rows = (await as.admin!("GET", "/w/acme/audit/list?operation=job_helpers&username=dev")).json();
    const kinds = new Set(rows.map(({ operation, action_kind }: any) => `${operation} ${action_kind}`));
    expect([...kinds].sort()).toEqual([
      "job_helpers.delete_s3_file Delete",
      "job_helpers.move_s3_file Update",
      "job_helpers.upload_s3_file Create",
    ]);
  });
});

describe("the setting of a workspace", () => {
  const settings = async (ask = as.dev!) =>
    (await expectOk(ask("GET", "/w/acme/workspaces/get_large_file_storage_config"))).json();

  test("is changed by admins, read by everybody, and null without a storage", async () => {
    await using own = await startTestServer();
    const admin = (await own.workspace()).ask;
    const dev = (await own.member("acme", "dev")).ask;
    expect(await settings(dev)).toBeNull();
    const upload = () => dev("POST", `${h}/upload_s3_file`, "x");
    expect((await upload()).text).toContain("no object storage configured");
    expect((await configure({ type: "FilesystemStorage" }, dev)).status).toBe(403);
    const wanted = { type: "FilesystemStorage", secondary_storage: { cold: { type: "FilesystemStorage" } } };
    await expectOk(configure(wanted, admin));
    expect(await settings(dev)).toEqual(wanted);
    const names = async (more = "") =>
      (await dev("GET", `/w/acme/workspaces/get_secondary_storage_names${more}`)).json();
    expect([await names(), await names("?include_default=true")]).toEqual([["cold"], ["_default_", "cold"]]);
    expect((await upload()).status).toBe(200);
    expect((await dev("GET", `${h}/test_connection?storage=cold`)).status).toBe(200);
    await expectOk(configure(null, admin));
    expect([await settings(dev), await names(), (await upload()).status]).toEqual([null, [], 400]);
  });

  test("is rejected with the reason if it cannot work", async () => {
    const before = await settings();
    await createResource("u/admin/nobucket", { region: "x" });
    await createResource("u/admin/foreign", { ...bucket.resource, secretKey: "$var:u/dev/secret" });
    await createResource("u/admin/dangling", { ...bucket.resource, secretKey: "$var:u/admin/none" });
    const s3 = (s3_resource_path?: string) => ({ type: "S3Storage", s3_resource_path });
    const cases: [settings: object, says: string][] = [
      [
        { type: "AzureBlobStorage", azure_blob_resource_path: "u/admin/x" },
        '"AzureBlobStorage" is not supported',
      ],
      [{ type: "AzureWorkloadIdentity" }, "use one of FilesystemStorage, S3Storage"],
      [s3(), "`s3_resource_path` is missing"],
      [s3("u/admin/nobucket"), "resource u/admin/nobucket does not identify a bucket"],
      [s3("u/admin/foreign"), "may only refer to items below u/admin/, not to u/dev/secret"],
      [s3("u/admin/dangling"), "$var:u/admin/none cannot be resolved"],
      [
        { type: "FilesystemStorage", secondary_storage: { "a/b": { type: "FilesystemStorage" } } },
        '"a/b" cannot be the name',
      ],
      [
        { type: "FilesystemStorage", secondary_storage: { _default_: { type: "FilesystemStorage" } } },
        '"_default_" cannot',
      ],
    ];
    for (const [wanted, says] of cases) {
      const answer = await configure(wanted);
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
    }
    expect(await settings()).toEqual(before);
  });

  test("that points to an unreachable bucket is reported, without its keys", async () => {
    const broken: [name: string, change: object, status: number, says: string][] = [
      ["off", { endPoint: "127.0.0.1:1" }, 503, "bucket files at http://127.0.0.1:1 cannot be used now"],
      ["nobucket", { bucket: "nobody" }, 400, "bucket nobody at"],
      ["nokey", { accessKey: "wrong-key" }, 400, "rejected the keys"],
    ];
    for (const [name, change, status, says] of broken) {
      const s3_resource_path = `u/dev/${name}`;
      await createResource(s3_resource_path, { ...bucket.resource, ...change }, as.dev);
      const answers = [
        await as.dev!("GET", `${h}/test_connection${query({ s3_resource_path })}`),
        await as.dev!("POST", `${h}/upload_s3_file${query({ s3_resource_path, file_key: "a" })}`, "x"),
      ];
      for (const answer of answers) {
        expect([name, answer.status, answer.text]).toEqual([name, status, expect.stringContaining(says)]);
        expect(answer.text).not.toMatch(/wrong-|X-Amz|S3RVER/);
      }
      const read = await as.dev!("GET", `${h}/download_s3_file${query({ s3_resource_path, file_key: "a" })}`);
      expect([name, read.status]).toEqual([name, name === "nobucket" ? 404 : status]);
    }
  });
});
