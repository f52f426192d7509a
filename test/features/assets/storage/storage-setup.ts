/** A server, a bucket, and calls of the workspace's storage. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { type Bucket, startBucket } from "../../../support/peers/bucket.ts";

export let server: TestServer;
export let bucket: Bucket;
export const askAs: Record<string, Ask> = {};
export const tokensByUser: Record<string, string> = {};

export const HELPERS = "/w/acme/job_helpers";

const createResource = (path: string, value: unknown, ask = askAs.admin!) =>
  expectOk(ask("POST", "/w/acme/resources/create", { path, value, resource_type: "s3" }));
const configure = (large_file_storage: unknown, ask = askAs.admin!) =>
  ask("POST", "/w/acme/workspaces/edit_large_file_storage_config", { large_file_storage });

/** A call whose request and response bodies are bytes. */
export const fetchRaw = (method: string, path: string, init: RequestInit = {}, token = tokensByUser.dev) =>
  fetch(`${server.url}/api${HELPERS}${path}`, {
    ...init,
    method,
    headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${token}` },
  });
export const query = (fields: Record<string, string | undefined>) =>
  `?${new URLSearchParams(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined))}`;

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpStorage(): void {
  beforeAll(async () => {
    [server, bucket] = await Promise.all([
      startTestServer({ max_body_mb: 1, max_upload_mb: 20, allowed_targets: "127.0.0.1" }),
      startBucket(),
    ]);
    const admin = await server.workspace();
    const dev = await server.member("acme", "dev");
    const ops = await server.member("acme", "ops", "operator");
    Object.assign(askAs, { admin: admin.ask, dev: dev.ask, ops: ops.ask });
    Object.assign(tokensByUser, { admin: admin.token, dev: dev.token });
    await expectOk(
      askAs.admin!("POST", "/w/acme/variables/create", {
        path: "u/admin/s3_secret",
        value: "S3RVER",
        is_secret: true,
        description: "",
      }),
    );
    await createResource("u/admin/bucket", { ...bucket.resource, secretKey: "$var:u/admin/s3_secret" });
    await configure({
      type: "FilesystemStorage",
      secondary_storage: {
        bucket: { type: "S3Storage", s3_resource_path: "$res:u/admin/bucket" },
        other: { type: "FilesystemStorage" },
      },
    });
  });
  afterAll(async () => {
    await server.stop();
    await bucket.stop();
  });
}
