/** Shared setup of the tests of renaming users. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
export let admin: Ask;
export let root: Ask;

export const renameUser = (name: string, new_username: string) =>
  root("POST", `/users/rename/${name}@example.org`, { new_username });

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpRenaming(): void {
  beforeAll(async () => {
    server = await startTestServer();
    admin = (await server.workspace()).ask;
    await server.workspace("other");
    root = (await server.user("root", { super_admin: true })).ask;
  });
  afterAll(() => server.stop());
}
