/** A user who owns many items is renamed in many transactions, between which others are served. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { variables } from "../../../src/features/assets/variable-tables.ts";
import { invalidateMembers } from "../../../src/features/tenancy/people/members.ts";
import { announceRenaming, endRenaming } from "../../../src/features/tenancy/people/renamings.ts";
import { resumableOperations } from "../../../src/features/tenancy/resumable/tables.ts";
import { jobs, type NewJob } from "../../../src/platform/queue/tables.ts";
import { cutOff } from "../../support/cut-off.ts";
import {
  createDatabase,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";
import { completedRow, idOf, QUEUED } from "../../support/job-rows.ts";
import { SVC_SECRET_KEY } from "../../support/two-servers.ts";

/** More rows than one transaction changes. */
const MANY = 2_500;
const RENAME = ["POST", "/users/rename/ann@example.org", { new_username: "anna" }] as const;

let place: { data_dir: string; database_url?: string; secret_key?: string };
/** The next server soon takes over the leases of a killed one. */
const SHORT_LEASE = { lease_s: 3 };
let dropDatabase: (() => Promise<void>) | undefined;

beforeEach(async () => {
  place = { data_dir: mkdtempSync(join(tmpdir(), "svc-rename-")) };
  if (process.env.DATABASE_URL) {
    const { url, drop } = await createDatabase(process.env.DATABASE_URL, "migrated");
    dropDatabase = drop;
    place = { ...place, database_url: url, secret_key: SVC_SECRET_KEY };
  }
});
afterEach(async () => {
  rmSync(place.data_dir, { recursive: true, force: true });
  await dropDatabase?.();
});

/** Ann's script, which reads one of her variables, many variables without references, and many queued jobs. */
async function furnish(server: TestServer) {
  await server.workspace();
  const ann = await server.member("acme", "ann");
  const hash = await deploy(ann.ask, "acme", "u/ann/tell", "export const main = (x: string) => x");
  const due = new Date();
  const row = (n: number): NewJob => ({
    ...completedRow(idOf(n), due, { ...QUEUED, script_hash: hash, script_path: "u/ann/tell" }),
    args: '{"x":"$var:u/ann/v7"}',
    created_by: "ann",
    permissioned_as: "u/ann",
    email: "ann@example.org",
  });
  const { app } = server.server;
  await app.db.write(async (tx) => {
    for (let at = 0; at < MANY; at += 100) {
      const some = Array.from({ length: 100 }, (_, i) => at + i);
      await tx.insert(jobs).values(some.map(row));
      const common = { workspace_id: "acme", is_secret: false, description: "", is_oauth: false };
      const more = { extra_perms: { "u/ann": true }, edited_at: due, extra: {} };
      await tx
        .insert(variables)
        .values(some.map((n) => ({ ...common, ...more, path: `u/ann/v${n}`, value: String(n) })));
    }
  });
  return ann;
}

/** Counts the jobs and variables of each username. */
async function names({ server }: TestServer): Promise<Record<string, number>> {
  const { read } = server.app.db;
  const each = sql<string>`${jobs.permissioned_as} || ' ' || ${jobs.created_by} || ' ' || ${jobs.script_path} || ' ' || ${jobs.args}`;
  const ofJobs = await read
    .select({ key: each, n: sql`count(*)` })
    .from(jobs)
    .where(sql`${jobs.state} = 'queued'`)
    .groupBy(each);
  const owner = sql<string>`substr(${variables.path}, 1, 7) || ' ' || ${variables.extra_perms}`;
  const ofVariables = await read.select({ key: owner, n: sql`count(*)` }).from(variables).groupBy(owner);
  return Object.fromEntries([...ofJobs, ...ofVariables].map(({ key, n }) => [key, Number(n)]));
}

const RENAMED = {
  'u/anna anna u/anna/tell {"x":"$var:u/anna/v7"}': MANY,
  'u/anna/ {"u/anna":true}': MANY,
};

for (const commit of [1, 2, 4, 30]) {
  test(`a renaming that is cut off after ${commit} commits is finished by the next start`, async () => {
    await using first = await startTestServer(place);
    await furnish(first);
    await first.stop();
    expect(await cutOff(place, commit, [...RENAME])).toBe(true);
    await using server = await startTestServer({ ...place, ...SHORT_LEASE });
    const { read } = server.server.app.db;
    const isOver = async () => (await read.select().from(resumableOperations)).length === 0 || undefined;
    await until(isOver, "the renaming is finished");
    expect(await names(server)).toEqual(RENAMED);
    const told = server.operator("POST", "/w/acme/jobs/run_wait_result/p/u/anna/tell", { x: "y" });
    expect((await expectOk(told)).json()).toBe("y");
    const again = await server.operator("POST", "/users/rename/ann@example.org", { new_username: "ann" });
    expect([again.status, again.text]).toEqual([200, expect.stringContaining("is called ann")]);
  }, 60_000);
}

test("during a large renaming others can write, and the former name cannot be taken", async () => {
  await using server = await startTestServer(place);
  await furnish(server);
  const bob = await server.member("acme", "bob");
  const value = { path: "u/bob/x", value: "1", is_secret: false, description: "" };
  await expectOk(bob.ask("POST", "/w/acme/variables/create", value));
  let isOver = false;
  const renaming = server.operator(...RENAME).finally(() => {
    isOver = true;
  });
  let served = 0;
  while (!isOver) {
    await expectOk(bob.ask("POST", "/w/acme/variables/update/u/bob/x", { value: String(served) }));
    if (!isOver) served++;
  }
  await expectOk(renaming);
  expect(served).toBeGreaterThan(5);
  expect(await names(server)).toMatchObject(RENAMED);
  const taken = await server.operator("POST", "/users/rename/bob@example.org", { new_username: "ann" });
  expect([taken.status, taken.text]).toEqual([400, expect.stringContaining("ann was that of")]);
}, 60_000);

test("webhooks receive one event for each of many moved items", async () => {
  await using server = await startTestServer({ ...place, allowed_targets: "127.0.0.1" });
  await furnish(server);
  const told: string[] = [];
  using receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { type, new_path, path } = (await request.json()) as Record<string, string>;
      told.push(`${type} ${new_path ?? path}`);
      return new Response("ok");
    },
  });
  const url = `http://127.0.0.1:${receiver.port}/`;
  await expectOk(server.operator("POST", "/w/acme/webhooks/create", { url }));
  await expectOk(server.operator(...RENAME));
  await until(async () => told.length > MANY || undefined, "all events");
  const moved = Array.from({ length: MANY }, (_, n) => `UpdateVariable u/anna/v${n}`);
  expect(told.sort()).toEqual(["UpdateScript u/anna/tell", ...moved].sort());
}, 120_000);

test("until a renaming is done, both names refer to the user, and items below them cannot be changed", async () => {
  await using server = await startTestServer(place);
  const { ask } = await furnish(server);
  const { app } = server.server;
  await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/ann/tell", { x: "$var:u/ann/v7" }));
  await app.db.write((tx) => tx.update(variables).set({ path: "u/anna/v7" }).where(sql`path = 'u/ann/v7'`));
  announceRenaming(app, "acme", "ann", "anna");
  const { workspaceMembers } = await import("../../../src/features/tenancy/workspaces/tables.ts");
  await app.db.write((tx) =>
    tx.update(workspaceMembers).set({ username: "anna" }).where(sql`username = 'ann'`),
  );
  invalidateMembers(app);
  for (const name of ["ann", "anna"]) {
    const run = ask("POST", `/w/acme/jobs/run_wait_result/p/u/${name}/tell`, { x: `$var:u/${name}/v7` });
    expect((await expectOk(run)).json()).toBe("7");
    for (const caller of [ask, server.operator]) {
      const change = await caller("POST", `/w/acme/variables/update/u/${name}/v8`, { value: "9" });
      expect([change.status, change.text]).toEqual([
        400,
        expect.stringContaining("try again when it is done"),
      ]);
    }
  }
  endRenaming(app, "acme");
  invalidateMembers(app);
  expect((await ask("GET", "/w/acme/variables/get_value/u/ann/v7")).status).toBe(404);
  expect((await ask("GET", "/w/acme/variables/get_value/u/anna/v7")).json()).toBe("7");
}, 60_000);
