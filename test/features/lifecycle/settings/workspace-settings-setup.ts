/** A workspace with storage, and calls of its settings. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { type Bucket, startBucket } from "../../../support/peers/bucket.ts";

export let server: TestServer;
let bucket: Bucket;
export let admin: Ask;
export let dev: Ask;

export const BASE = "/w/acme/workspaces";

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpWorkspaceSettings(): void {
  beforeAll(async () => {
    [server, bucket] = await Promise.all([startTestServer({ allowed_targets: "127.0.0.1" }), startBucket()]);
    admin = (await server.workspace()).ask;
    dev = (await server.member("acme", "dev")).ask;
    await server.workspace("other");
    await deploy(admin, "acme", "u/admin/script", "export const main = () => process.env.REGION ?? null");
    const flow = { path: "u/admin/flow", summary: "", value: { modules: [] } };
    await expectOk(admin("POST", "/w/acme/flows/create", flow));
    const app = { path: "f/apps/first", summary: "", value: {}, policy: {} };
    await expectOk(admin("POST", "/w/acme/folders/create", { name: "apps" }));
    await expectOk(admin("POST", "/w/acme/apps/create", app));
    const resource = { path: "u/admin/thing", value: bucket.resource, resource_type: "s3" };
    await expectOk(admin("POST", "/w/acme/resources/create", resource));
    const off = { ...resource, path: "u/admin/off", value: { ...bucket.resource, endPoint: "127.0.0.1:1" } };
    await expectOk(admin("POST", "/w/acme/resources/create", off));
  }, 30_000);
  afterAll(async () => {
    await server.stop();
    await bucket.stop();
  });
}
