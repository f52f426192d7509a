/** Entries of calls that were committed together: each is found as if it had a row of its own. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { auditInsert } from "../../../../src/features/signals/audit/rows.ts";
import { auditLog } from "../../../../src/features/signals/audit/tables.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

const CALLS = 120;

let server: TestServer;
let admin: Ask;
let job_ids: string[];

beforeAll(async () => {
  server = await startTestServer();
  ({ ask: admin } = await server.workspace());
  for (const name of ["one", "two"])
    await deploy(admin, "acme", `u/admin/${name}`, "export const main = () => 1");
  const calls = Array.from({ length: CALLS }, (_, n) =>
    expectOk(admin("POST", `/w/acme/jobs/run/p/u/admin/${n % 3 === 0 ? "two" : "one"}`, {})),
  );
  job_ids = (await Promise.all(calls)).map(({ text }) => text);
});
afterAll(() => server.stop());

type Entry = { id: number; timestamp: string; resource: string; parameters: { job_id: string } };

const list = async (query: string): Promise<Entry[]> =>
  (await expectOk(admin("GET", `/w/acme/audit/list?operation=jobs.run&${query}`))).json();
const idsOf = (entries: Entry[]) => entries.map(({ id }) => id);

test("each call has its entry, with an id of its own, newest first", async () => {
  const entries = await list("per_page=1000");
  expect(entries.map(({ parameters }) => parameters.job_id).sort()).toEqual([...job_ids].sort());
  const ids = idsOf(entries);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
  expect(Object.keys(entries[0]!).sort()).toEqual(
    ["id", "workspace_id", "timestamp", "username", "email"]
      .concat(["operation", "action_kind", "resource", "parameters"])
      .sort(),
  );
  const rows = await server.server.app.db.read.select({ id: auditLog.id }).from(auditLog);
  if (server.server.app.db.dialect === "sqlite") expect(rows.length).toBeLessThan(CALLS);
});

test("pages cut between entries of one row", async () => {
  const paged: Entry[] = [];
  for (let page = 1; paged.length < CALLS; page++) {
    const entries = await list(`per_page=7&page=${page}`);
    expect(entries.length).toBe(Math.min(7, CALLS - paged.length));
    paged.push(...entries);
  }
  expect(paged).toEqual(await list("per_page=1000"));
});

test("an id finds its entry, and one beyond the last none", async () => {
  const entries = await list("per_page=1000");
  for (const entry of entries) {
    expect((await expectOk(admin("GET", `/w/acme/audit/get/${entry.id}`))).json()).toEqual(entry as never);
  }
  const beyond = entries[0]!.id + 1;
  expect((await admin("GET", `/w/acme/audit/get/${beyond}`)).status).toBe(404);
});

test("filters by resource and time apply to each entry", async () => {
  const entries = await list("per_page=1000");
  const two = entries.filter(({ resource }) => resource === "u/admin/two");
  expect(two.length).toBe(CALLS / 3);
  expect(await list("per_page=1000&resource=u/admin/two")).toEqual(two);
  for (const { timestamp } of entries) {
    const at = encodeURIComponent(timestamp);
    const after = idsOf(await list(`per_page=1000&after=${at}`));
    const before = idsOf(await list(`per_page=1000&before=${at}`));
    expect(after).toEqual(idsOf(entries.filter((entry) => entry.timestamp > timestamp)));
    expect(before).toEqual(idsOf(entries.filter((entry) => entry.timestamp <= timestamp)));
  }
});

test("the export has every entry, oldest first", async () => {
  const { text } = await expectOk(admin("GET", "/w/acme/audit/export?operation=jobs.run"));
  const lines = text.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual((await list("per_page=1000")).reverse());
});

test("changes that are committed together are listed in their order", async () => {
  const { db } = server.server.app;
  const change = (action_kind: "Create" | "Delete") =>
    db.write(async (tx) => {
      await tx.addToLog(auditInsert, {
        timestamp: new Date(),
        workspace_id: "acme",
        username: "admin",
        email: "admin@example.org",
        audit: { operation: "variables.test", action_kind },
        resource: "u/admin/now_and_then",
        parameters: undefined,
      });
    });
  const kinds = ["Create", "Delete", "Create", "Delete", "Create"] as const;
  await Promise.all(kinds.map(change));
  const path = "/w/acme/audit/list?resource=u/admin/now_and_then";
  const entries: { action_kind: string }[] = (await expectOk(admin("GET", path))).json();
  expect(entries.map(({ action_kind }) => action_kind).reverse()).toEqual([...kinds]);
});
