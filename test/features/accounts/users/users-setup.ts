/** Shared setup of the tests of users and passwords. */
import { afterAll, beforeAll } from "bun:test";
import { startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;

/** Moves a server's clock, so that sessions and time windows end without waiting. */
export const moveClock = (of: TestServer, ms: number) =>
  Object.assign(of.server.app, { clock: () => new Date(Date.now() + ms) });

export const login = (email: string, password: string, of = server) =>
  of.as(undefined)("POST", "/auth/login", { email, password });

export const whoami = (token: string, of = server) => of.as(token)("GET", "/users/whoami");

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpUsers(): void {
  beforeAll(async () => {
    server = await startTestServer();
    await server.workspace();
  });
  afterAll(() => server.stop());
}
