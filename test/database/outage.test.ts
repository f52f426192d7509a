/**
 * PostgreSQL goes away while jobs and flows run, and comes back: completed work counts, and everything
 * continues.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { SQL } from "bun";
import { and, eq, gt, inArray } from "drizzle-orm";
import { jobs } from "../../src/platform/queue/tables.ts";
import {
  type Ask,
  createTemporaryFolder,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
} from "../support/harness.ts";
import { type PostgresServer, startPostgres } from "../support/peers/postgres-server.ts";

/** Time limit: other servers look for a job after half a minute if its worker could not report in time. */
const LIMIT_MS = 90_000;

async function until<T>(look: () => Promise<T | undefined> | T | undefined, what: string): Promise<T> {
  const end = Date.now() + LIMIT_MS;
  for (;;) {
    const value = await look();
    if (value !== undefined) return value;
    if (Date.now() > end) throw new Error(`waited too long for ${what}`);
    await Bun.sleep(20);
  }
}

/** Reports that it runs, and ends as soon as a file `go` exists. */
const GATE = `
import { existsSync, writeFileSync } from "node:fs";
export async function main(folder: string, n: number) {
  writeFileSync(folder + "/runs-" + n, "");
  while (!existsSync(folder + "/go")) await Bun.sleep(20);
  writeFileSync(folder + "/ended-" + n, "");
  return n;
}`;
const js = (expr: string) => ({ type: "javascript", expr });
const fixed = (value: unknown) => ({ type: "static", value });

describe.skipIf(!process.env.DATABASE_URL)("an outage of PostgreSQL", () => {
  let postgres: PostgresServer;
  let server: TestServer;
  let ask: Ask;
  const folder = createTemporaryFolder("svc-outage-");

  beforeAll(async () => {
    postgres = await startPostgres();
    server = await startTestServer({
      database_url: postgres.url,
      workers: 8,
      sandbox_write: folder,
      // A retried test would find files of its earlier jobs.
      job_uids: "off",
    });
    ({ ask } = await server.workspace());
    await deploy(ask, "acme", "u/admin/gate", GATE);
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  const there = (...names: string[]) =>
    until(() => (names.every((name) => existsSync(join(folder, name))) ? true : undefined), names.join());
  const run = async (n: number) =>
    (await expectOk(ask("POST", "/w/acme/jobs/run/p/u/admin/gate", { folder, n }))).text;
  const flow = async (modules: object[], args: object = {}) =>
    (await expectOk(ask("POST", "/w/acme/jobs/run/preview_flow", { value: { modules }, args }))).text;
  const ended = (id: string) =>
    until(async () => {
      const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
      return answer.status === 200 ? answer.json() : undefined;
    }, `the end of ${id}`);

  test("jobs that end during it keep their result and do not run again", async () => {
    await rm(join(folder, "go"), { force: true });
    const ids = [await run(1), await run(2)];
    const sync = ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/gate", { folder, n: 3 });
    const gate = {
      id: "g",
      value: {
        type: "script",
        path: "u/admin/gate",
        input_transforms: { folder: js("flow_input.folder"), n: fixed(4) },
      },
    };
    const after = {
      id: "l",
      value: {
        type: "forloopflow",
        iterator: js("[results.g, 5]"),
        skip_failures: false,
        parallel: true,
        modules: [
          { id: "s", value: { type: "identity" }, sleep: fixed(0.1) },
          { id: "z", value: { type: "identity", input_transforms: {} } },
          {
            id: "r",
            value: {
              type: "script",
              path: "u/admin/gate",
              input_transforms: { folder: js("flow_input.folder"), n: js("flow_input.iter.value") },
            },
          },
        ],
      },
    };
    const through = await flow([gate, after], { folder });
    await there("runs-1", "runs-2", "runs-3", "runs-4");
    await postgres.halt();
    await Bun.write(join(folder, "go"), "");
    await there("ended-1", "ended-2", "ended-3", "ended-4");
    // Longer than the retries of a completion that the database rejects.
    await Bun.sleep(4_000);
    await postgres.start();
    for (const [index, id] of ids.entries()) {
      expect(await ended(id)).toMatchObject({ success: true, result: index + 1 });
    }
    expect(await sync).toMatchObject({ status: 200, text: "3" });
    expect(await ended(through)).toMatchObject({ success: true, result: [4, 5] });
    const again = await server.server.app.db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(inArray(jobs.id, ids), gt(jobs.attempts, 0)));
    expect(again).toEqual([]);
    expect(await ended(await run(6))).toMatchObject({ success: true, result: 6 });
  }, 120_000);

  const BREAK =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";

  test("does not fail a running flow", async () => {
    const admin = new SQL({ url: postgres.url, max: 1 });
    // Recording the failure would succeed at any time.
    await admin.unsafe(`
      CREATE FUNCTION scarce() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'out of memory' USING ERRCODE = '53200'; END $$;
      CREATE TRIGGER scarce BEFORE UPDATE OF state ON flow_frames FOR EACH ROW
        WHEN (strpos(NEW.state, '"ended":true') = 0) EXECUTE FUNCTION scarce()`);
    const sleep = { id: "s", value: { type: "identity" }, sleep: fixed(0.1) };
    const id = await flow([
      sleep,
      { id: "a", value: { type: "identity" }, sleep: fixed(0.1) },
      { id: "z", value: { type: "identity" } },
    ]);
    // Longer than the retries of a frame that cannot be processed.
    await Bun.sleep(10_000);
    await admin.unsafe("DROP FUNCTION scarce CASCADE");
    await admin.close();
    expect(await ended(id)).toMatchObject({ success: true });
  }, 120_000);

  test("a job that was claimed by another server during it stays with that server", async () => {
    await rm(join(folder, "go"), { force: true });
    const id = await run(7);
    await there("runs-7");
    const { app } = server.server;
    const admin = new SQL({ url: postgres.url, max: 1 });
    await admin.unsafe("ALTER ROLE svc NOLOGIN");
    await admin.unsafe(BREAK);
    await Bun.write(join(folder, "go"), "");
    await there("ended-7");
    await admin`UPDATE jobs SET worker = 'another', last_ping = now() WHERE id = ${id}`;
    await admin.unsafe("ALTER ROLE svc LOGIN");
    await admin.close();
    await until(() => (app.queue.has(id) ? undefined : true), "the worker to let go of it");
    const [row] = await app.db.read.select().from(jobs).where(eq(jobs.id, id));
    expect(row).toMatchObject({ state: "running", worker: "another", result: null });
  }, 120_000);
});
