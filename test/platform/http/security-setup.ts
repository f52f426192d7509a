/** A server that strangers call. */
import { afterAll, beforeAll } from "bun:test";
import { deploy, startTestServer, type TestServer } from "../../support/harness.ts";

export let server: TestServer;
export let token: string;

/** Gives the tests of a file a server of their own. */
export function openSecurity(): void {
  beforeAll(async () => {
    server = await startTestServer();
    const admin = await server.workspace();
    token = admin.token;
    await deploy(admin.ask, "acme", "u/admin/one", "export const main = () => 1");
  });
  afterAll(() => server.stop());
}
