/** What tests of users and passwords share. */
import { afterAll, beforeAll } from "bun:test";
import { startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;

/** Moves a server's clock: sessions and windows end without anybody waiting. */
export const moveClock = (of: TestServer, ms: number) =>
  Object.assign(of.server.app, { clock: () => new Date(Date.now() + ms) });

export const login = (email: string, password: string, of = server) =>
  of.as(undefined)("POST", "/auth/login", { email, password });

export const whoami = (token: string, of = server) => of.as(token)("GET", "/users/whoami");

/** Gives the tests of a file a server of their own. */
export function openUsers(): void {
  beforeAll(async () => {
    server = await startTestServer();
    await server.workspace();
  });
  afterAll(() => server.stop());
}
