/** Two servers on one PostgreSQL, and changes on one of them that the other must notice. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, expectOk } from "../../support/harness.ts";
import { expectEventually, rootOf, startTwoServers, type TwoServers } from "../../support/two-servers.ts";

export let both: TwoServers;
export let root: Awaited<ReturnType<typeof rootOf>>;
export let ask: Ask;
export let back: Ask;
export const WORKSPACE = "/w/acme";

/** Gives the tests of a file two servers, started before them and stopped after them. */
export function setUpMemory(): void {
  beforeAll(async () => {
    both = await startTwoServers({ allowed_targets: "127.0.0.1" });
    root = await rootOf(both);
    await expectOk(root.ask("POST", "/settings/global/root_route_workspaces", { value: ["acme"] }));
    ask = both.admin.ask;
    back = both.atBack;
  });
  afterAll(() => both?.stop());
}

export const status = (asked: Ask, method: string, path: string, body?: unknown) => async () =>
  (await asked(method, path, body)).status;

/** Whether a process of the machine has not ended. */
export const isAlive = (process_id: number) => {
  try {
    process.kill(process_id, 0);
    return true;
  } catch {
    return false;
  }
};

export interface Case {
  name: string;
  /** Creates the cached state. */
  make: () => Promise<unknown>;
  /** Reads the state from the other server. */
  look: () => Promise<unknown>;
  before: unknown;
  change: () => Promise<unknown>;
  after: unknown;
}

/** Tests each change: the other server's response before it, from its cache, and soon after it. */
export function testCases(cases: Case[]): void {
  test.each(cases.map((each) => [each.name, each] as const))(
    "%s",
    async (_, { make, look, before, change, after }) => {
      await make();
      // Read twice: from now on it is cached.
      await look();
      expect(await expectEventually(look, before)).toEqual(before);
      await change();
      expect(await expectEventually(look, after)).toEqual(after);
    },
  );
}
