/** A server with people of different rights, and calls of its resources. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
/** API clients by role, all in workspace acme. */
export const as: Record<string, Ask> = {};
export let devToken: string;

export const w = "/w/acme/resources";
export const create = (path: string, value: unknown, more: object = {}, ask = as.dev!) =>
  ask("POST", `${w}/create`, { path, value, resource_type: "any", ...more });
export const variable = (path: string, value: string, is_secret = false, ask = as.dev!) =>
  expectOk(ask("POST", "/w/acme/variables/create", { path, value, is_secret, description: "" }));

export const interpolated = (path: string, query = "", ask = as.dev!) =>
  ask("GET", `${w}/get_value_interpolated/${path}${query}`);

/** Starts a server before the tests of a file, and stops it after them. */
export function openResources(): void {
  beforeAll(async () => {
    server = await startTestServer();
    as.admin = (await server.workspace()).ask;
    const dev = await server.member("acme", "dev");
    [as.dev, devToken] = [dev.ask, dev.token];
    as.dev2 = (await server.member("acme", "dev2")).ask;
    as.ops = (await server.member("acme", "ops", "operator")).ask;
    as.root = (await server.user("root", { super_admin: true })).ask;
    await expectOk(server.operator("POST", "/workspaces/create", { id: "admins", name: "Admins" }));
  });
  afterAll(() => server.stop());
}
