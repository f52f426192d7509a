/** A server for anonymous callers. */
import { afterAll, beforeAll } from "bun:test";
import { deploy, startTestServer, type TestServer } from "../../support/harness.ts";

export let server: TestServer;
export let token: string;

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpSecurity(): void {
  beforeAll(async () => {
    server = await startTestServer();
    const admin = await server.workspace();
    token = admin.token;
    await deploy(admin.ask, "acme", "u/admin/one", "export const main = () => 1");
  });
  afterAll(() => server.stop());
}
