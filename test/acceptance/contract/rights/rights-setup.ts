/** A server with users whose rights change. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
export const askAs: Record<string, Ask> = {};

export const admin = (path: string, body: object = {}) =>
  expectOk(askAs.admin!("POST", `/w/acme/${path}`, body));
export const createVariable = (path: string) =>
  admin("variables/create", { path, value: "1", is_secret: false, description: "" });

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpRights(): void {
  beforeAll(async () => {
    server = await startTestServer();
    askAs.admin = (await server.workspace()).ask;
    for (const name of ["ann", "bob", "cid"]) askAs[name] = (await server.member("acme", name)).ask;
  });
  afterAll(() => server.stop());
}
