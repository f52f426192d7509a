/** A server with users of different rights, and calls of its resources. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
/** API clients by role, all in workspace acme. */
export const askAs: Record<string, Ask> = {};
export let devToken: string;

export const RESOURCES = "/w/acme/resources";
export const create = (path: string, value: unknown, more: object = {}, ask = askAs.dev!) =>
  ask("POST", `${RESOURCES}/create`, { path, value, resource_type: "any", ...more });
export const variable = (path: string, value: string, is_secret = false, ask = askAs.dev!) =>
  expectOk(ask("POST", "/w/acme/variables/create", { path, value, is_secret, description: "" }));

export const getInterpolatedValue = (path: string, query = "", ask = askAs.dev!) =>
  ask("GET", `${RESOURCES}/get_value_interpolated/${path}${query}`);

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpResources(): void {
  beforeAll(async () => {
    server = await startTestServer();
    askAs.admin = (await server.workspace()).ask;
    const dev = await server.member("acme", "dev");
    [askAs.dev, devToken] = [dev.ask, dev.token];
    askAs.dev2 = (await server.member("acme", "dev2")).ask;
    askAs.ops = (await server.member("acme", "ops", "operator")).ask;
    askAs.root = (await server.user("root", { super_admin: true })).ask;
    await expectOk(server.operator("POST", "/workspaces/create", { id: "admins", name: "Admins" }));
  });
  afterAll(() => server.stop());
}
