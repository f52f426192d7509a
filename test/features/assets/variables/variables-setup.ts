/** A server with users of different rights, and calls of its variables. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
/** API clients by role, all in workspace acme. */
export const askAs: Record<string, Ask> = {};

export const BASE = "/w/acme/variables";
export const create = (path: string, more: object = {}, ask = askAs.dev!) =>
  ask("POST", `${BASE}/create`, {
    path,
    value: "plain text",
    is_secret: false,
    description: "",
    ...more,
  });
export const get = async (path: string, query = "", ask = askAs.dev!) =>
  (await expectOk(ask("GET", `${BASE}/get/${path}${query}`))).json();
export const getValue = async (path: string) => (await askAs.dev!("GET", `${BASE}/get_value/${path}`)).json();
export const update = (path: string, body: object, query = "") =>
  askAs.dev!("POST", `${BASE}/update/${path}${query}`, body);

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpVariables(): void {
  beforeAll(async () => {
    server = await startTestServer();
    askAs.admin = (await server.workspace()).ask;
    askAs.dev = (await server.member("acme", "dev")).ask;
    // A username that starts with another one.
    askAs.dev2 = (await server.member("acme", "dev2")).ask;
    askAs.ops = (await server.member("acme", "ops", "operator")).ask;
  });
  afterAll(() => server.stop());
}
