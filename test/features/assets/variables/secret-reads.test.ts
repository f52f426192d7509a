/** Every read of a secret leaves an audit row, for which the response waits. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "../../../../src/database/database.ts";
import { createJobTokens } from "../../../../src/features/tenancy/tokens/job-tokens.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;

const w = "/w/acme";

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  for (const name of ["one", "two"]) {
    const secret = { path: `u/admin/${name}`, value: `value of ${name}`, is_secret: true, description: "" };
    await expectOk(ask("POST", `${w}/variables/create`, secret));
  }
  const content = `export async function main(asked: [path: string, value?: string][]) {
    const base = process.env.BASE_INTERNAL_URL + "/api/w/acme/variables/";
    const headers = { authorization: "Bearer " + process.env.WM_TOKEN, "content-type": "application/json" };
    const told = [];
    for (const [path, value] of asked) {
      if (value === undefined) told.push(await (await fetch(base + "get_value/" + path, { headers })).json());
      else await fetch(base + "update/" + path, { method: "POST", headers, body: JSON.stringify({ value }) });
    }
    return told;
  }`;
  await deploy(ask, "acme", "u/admin/reads", content);
});
afterAll(() => server.stop());

/**
 * Runs the script and returns the secrets it read, by the audit rows, and the rows for which it waited for the
 * disk.
 */
async function run(asked: [path: string, value?: string][]) {
  const since = new Date().toISOString();
  const db = server.server.app.db as { write: Database["write"] };
  const { write } = db;
  const lazy: boolean[] = [];
  db.write = (work, options) => {
    if (options && "action" in options) lazy.push(options.lazy === true);
    return write(work, options);
  };
  const told = (await expectOk(ask("POST", `${w}/jobs/run_wait_result/p/u/admin/reads`, { asked }))).json();
  db.write = write;
  const query = `operation=variables.decrypt_secret&after=${since}`;
  const rows = (await expectOk(ask("GET", `${w}/audit/list?${query}`))).json();
  return { told, read: rows.map(({ resource }: { resource: string }) => resource).reverse(), lazy };
}

test("every read has an audit row; a job that reads a secret again waits only for the first row's flush", async () => {
  const [one, two] = ["u/admin/one", "u/admin/two"];
  const first = await run([[one], [one], [two], [one], [two]]);
  expect(first.told).toEqual([
    "value of one",
    "value of one",
    "value of two",
    "value of one",
    "value of two",
  ]);
  expect(first.read).toEqual([one, one, two, one, two]);
  expect(first.lazy).toEqual([false, true, false, true, true]);
  // Another job, and another value, are recorded for the first time.
  const second = await run([[one], [one, "another"], [one], [one]]);
  expect(second.told).toEqual(["value of one", "another", "another"]);
  expect(second.read).toEqual([one, one, one]);
  expect(second.lazy).toEqual([false, false, true]);
});

test("a user's read waits for its row", async () => {
  const db = server.server.app.db as { write: Database["write"] };
  const { write } = db;
  const lazy: unknown[] = [];
  db.write = (work, options) => {
    lazy.push(options?.lazy);
    return write(work, options);
  };
  for (const _ of [1, 2]) await expectOk(ask("GET", `${w}/variables/get_value/u/admin/two`));
  db.write = write;
  expect(lazy).toEqual([false, false]);
});

test("a token whose job is not running cannot read secrets, since nothing would mask them in its log", async () => {
  const { app } = server.server;
  const identity = { workspace_id: "acme", permissioned_as: "u/admin", email: "admin_acme@example.org" };
  const tokens = createJobTokens(app)(identity);
  const asks = server.as(tokens.begin(crypto.randomUUID()));
  const answer = await asks("GET", "/w/acme/variables/get_value/u/admin/one");
  expect([answer.status, answer.text]).toEqual([401, expect.stringContaining("has ended")]);
  const plain = { path: "u/admin/plain", value: "no secret", is_secret: false, description: "" };
  await expectOk(ask("POST", `${w}/variables/create`, plain));
  expect((await asks("GET", "/w/acme/variables/get_value/u/admin/plain")).json()).toBe("no secret");
  tokens.endAll();
});
