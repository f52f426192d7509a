/** A server with people of different rights, and calls of its variables. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
/** API clients by role, all in workspace acme. */
export const as: Record<string, Ask> = {};

export const w = "/w/acme/variables";
export const create = (path: string, more: object = {}, ask = as.dev!) =>
  ask("POST", `${w}/create`, { path, value: "plain text", is_secret: false, description: "", ...more });
export const get = async (path: string, query = "", ask = as.dev!) =>
  (await expectOk(ask("GET", `${w}/get/${path}${query}`))).json();
export const value = async (path: string) => (await as.dev!("GET", `${w}/get_value/${path}`)).json();
export const update = (path: string, body: object, query = "") =>
  as.dev!("POST", `${w}/update/${path}${query}`, body);

/** Starts a server before the tests of a file, and stops it after them. */
export function openVariables(): void {
  beforeAll(async () => {
    server = await startTestServer();
    as.admin = (await server.workspace()).ask;
    as.dev = (await server.member("acme", "dev")).ask;
    // A name that begins with another one.
    as.dev2 = (await server.member("acme", "dev2")).ask;
    as.ops = (await server.member("acme", "ops", "operator")).ask;
  });
  afterAll(() => server.stop());
}
