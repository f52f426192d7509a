/** Requests that overlap a key rotation are rejected, so that nothing mixes two keys. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let admin: Ask;

beforeAll(async () => {
  server = await startTestServer();
  admin = (await server.workspace()).ask;
  const secret = { path: "u/admin/one", value: "opens", is_secret: true, description: "" };
  await expectOk(admin("POST", "/w/acme/variables/create", secret));
}, 60_000);
afterAll(() => server.stop());

const exchange = (n: number, skip_reencrypt = false) =>
  admin("POST", "/w/acme/workspaces/encryption_key", { new_key: `${n}`.padStart(64, "k"), skip_reencrypt });
const archive = (query: string) => admin("GET", `/w/acme/workspaces/tarball?archive_type=zip&${query}`);
const read = async () => (await admin("GET", "/w/acme/variables/get_value/u/admin/one")).json();

type How = { action?: { operation: string }; parameters?: Record<string, string> } | undefined;

/** Runs something once, right after the first commit of a kind. */
async function after<T>(
  isIt: (how: How) => boolean,
  other: () => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  const { db } = server.server.app;
  const { write } = db;
  let isDone = false;
  db.write = (async (inside: never, how: never) => {
    const value = await write(inside, how);
    if (!isDone && isIt(how)) {
      isDone = true;
      await other();
    }
    return value;
  }) as typeof write;
  try {
    return await work();
  } finally {
    db.write = write;
    expect(isDone).toBe(true);
  }
}

/** The archive has read the key, and not yet the secrets. */
const hasReadKey = (how: How) => how?.action?.operation === "workspaces.get_encryption_key";
const hasBegunExchange = (how: How) => how?.parameters?.skip_reencrypt === "false";

test.each([
  ["that re-encrypts", false],
  ["that leaves the secrets as they are", true],
])("an archive is rejected if a rotation %s begins and ends during it", async (_, skip) => {
  let n = skip ? 20 : 10;
  const other = () => expectOk(exchange(n++, skip));
  const answer = await after(hasReadKey, other, () => archive("include_key=true"));
  expect([answer.status, answer.text]).toEqual([
    400,
    expect.stringContaining("the key of workspace acme was replaced while its archive was being created"),
  ]);
  // The archive alone again: the rejected request left nothing behind.
  await expectOk(archive("include_key=true"));
  // Back to the key that decrypts them.
  if (skip) await expectOk(exchange(10, true));
  expect(await read()).toBe("opens");
});

test("an archive of plain secrets needs no key, and is created during a rotation", async () => {
  const plain = () => expectOk(archive("plain_secrets=true"));
  await after(hasBegunExchange, plain, () => expectOk(exchange(30)));
});

test("during a rotation, archives and deleting the workspace are rejected, and it stays open", async () => {
  const refused: [number, string][] = [];
  const others = async () => {
    for (const answer of [
      await archive(""),
      await admin("POST", "/w/acme/workspaces/archive"),
      await server.operator("DELETE", "/workspaces/delete/acme"),
      await admin("POST", "/w/acme/workspaces/change_workspace_id", { new_id: "umbra" }),
      await exchange(41, true),
    ]) {
      refused.push([answer.status, answer.text]);
    }
  };
  await after(hasBegunExchange, others, () => expectOk(exchange(40)));
  const says = expect.stringContaining("the exchange of the key of acme is still under way");
  expect(refused).toEqual(Array.from({ length: 5 }, () => [400, says]));
  expect(await read()).toBe("opens");
});

test("of a concurrent rotation and archiving, each succeeds or is rejected", async () => {
  const answers = await Promise.all([exchange(50), admin("POST", "/w/acme/workspaces/archive")]);
  for (const { status, text } of answers) {
    if (status !== 200)
      expect([[400, 403, 404, 410], text]).toEqual([expect.arrayContaining([status]), text]);
  }
  if (answers[1]!.status === 200) await expectOk(server.operator("POST", "/workspaces/unarchive/acme"));
  expect(await read()).toBe("opens");
});
