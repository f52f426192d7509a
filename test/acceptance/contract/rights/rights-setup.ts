/** A server with people whose rights change. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
export const as: Record<string, Ask> = {};

export const admin = (path: string, body: object = {}) =>
  expectOk(as.admin!("POST", `/w/acme/${path}`, body));
export const newVariable = (path: string) =>
  admin("variables/create", { path, value: "1", is_secret: false, description: "" });

/** Starts a server before the tests of a file, and stops it after them. */
export function openRights(): void {
  beforeAll(async () => {
    server = await startTestServer();
    as.admin = (await server.workspace()).ask;
    for (const name of ["ann", "bob", "cid"]) as[name] = (await server.member("acme", name)).ask;
  });
  afterAll(() => server.stop());
}
