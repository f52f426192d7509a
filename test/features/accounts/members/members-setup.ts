/** Shared setup of the tests of a workspace's members. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
export let admin: Ask;

const known = new Map<string, Promise<Ask>>();
/** A member of the workspace, created once for the tests of a file. */
export function addMember(name: string): Promise<Ask> {
  const ask = known.get(name) ?? server.member("acme", name).then((made) => made.ask);
  known.set(name, ask);
  return ask;
}

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpMembers(): void {
  beforeAll(async () => {
    known.clear();
    server = await startTestServer();
    admin = (await server.workspace()).ask;
  });
  afterAll(() => server.stop());
}
