/** Periodic tasks of servers on one PostgreSQL run once in total, however many servers there are. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { eq, like } from "drizzle-orm";
import { openDatabase } from "../../../src/database/open-database.ts";
import { oidcKeys } from "../../../src/features/instance/oidc/tables.ts";
import { createPruner } from "../../../src/features/lifecycle/retention/pruner.ts";
import { createRescuer } from "../../../src/features/runs/worker/rescuer.ts";
import { getTokenCache } from "../../../src/features/tenancy/tokens/cache.ts";
import { flushTokenUses } from "../../../src/features/tenancy/tokens/service.ts";
import { tokens } from "../../../src/features/tenancy/tokens/tables.ts";
import { flushUsage } from "../../../src/features/tenancy/workspaces/usage.ts";
import { jobs } from "../../../src/platform/queue/tables.ts";
import { type Ask, deploy, expectOk, until } from "../../support/harness.ts";
import { completedRow, idOf, RUNNING } from "../../support/job-rows.ts";
import { expectEventually, startTwoServers, type TwoServers } from "../../support/two-servers.ts";

setDefaultTimeout(60_000);

describe.skipIf(!process.env.DATABASE_URL)("with two servers", () => {
  let both: TwoServers;
  let ask: Ask;
  let back: Ask;
  const w = "/w/acme";
  const apps = () => [both.front.server.app, both.back.server.app] as const;

  beforeAll(async () => {
    both = await startTwoServers({ retention_s: 3_600 });
    ({ ask } = both.admin);
    back = both.atBack;
  });
  afterAll(() => both?.stop());

  test("one creates the first signing key of identity tokens, and both publish it", async () => {
    const read = (from: Ask) => from("GET", "/oidc/jwks").then((answer) => answer.json().keys);
    const shown = await Promise.all([read(ask), read(back), read(ask), read(back)]);
    for (const keys of shown) expect(keys).toEqual(shown[0]);
    expect(await apps()[0].db.read.select({ kid: oidcKeys.kid }).from(oidcKeys)).toHaveLength(1);
  });

  test("one starts the handler of each failure, whichever ran the job", async () => {
    await deploy(ask, "acme", "u/admin/fails", "export const main = () => { throw new Error('no') }");
    await deploy(ask, "acme", "u/admin/hears", "export const main = (job_id: string) => job_id");
    const handler = { error_handler: "script/u/admin/hears", error_handler_extra_args: {} };
    await expectOk(ask("POST", `${w}/workspaces/edit_error_handler`, handler));
    const failed = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        (at % 2 ? ask : back)("POST", `${w}/jobs/run/p/u/admin/fails`, {}),
      ),
    );
    const heard = async () =>
      (await apps()[0].db.read.select().from(jobs).where(eq(jobs.script_path, "u/admin/hears"))).filter(
        ({ state }) => state === "completed",
      );
    await until(async () => ((await heard()).length >= failed.length ? true : undefined), "all handlers");
    await expectOk(ask("POST", `${w}/workspaces/edit_error_handler`, {}));
    const about = (await heard()).map(({ result }) => JSON.parse(result!));
    expect(about.sort()).toEqual(failed.map(({ text }) => text).sort());
  });

  test("each server stores its counts of runs, and they add up", async () => {
    await deploy(ask, "acme", "u/admin/counted", "export const main = () => 1");
    for (const app of apps()) await flushUsage(app);
    const before = (await ask("GET", `${w}/workspaces/usage`)).json();
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        expectOk((at % 2 ? ask : back)("POST", `${w}/jobs/run_wait_result/p/u/admin/counted`, {})),
      ),
    );
    await Promise.all(apps().map(flushUsage));
    const executions = (await ask("GET", `${w}/workspaces/usage`)).json() - before;
    // A pass that takes longer than a second counts for more.
    expect(executions).toBeGreaterThanOrEqual(20);
    expect((await back("GET", `${w}/workspaces/usage`)).json()).toBe(executions + before);
  });

  test("both store uses of the same tokens without a deadlock", async () => {
    const [app] = apps();
    const email = "uses@example.org";
    const rows = Array.from({ length: 700 }, (_, n) => ({
      hash: `hash-${n}`,
      prefix: "x",
      email,
      label: "used",
      kind: "user" as const,
      created_at: new Date(),
      last_used_at: new Date(0),
    }));
    await app.db.write((tx) => tx.insert(tokens).values(rows));
    for (let round = 1; round <= 5; round++) {
      const at = new Date(round * 1_000);
      for (const [n, each] of apps().entries()) {
        const hashes = rows.map(({ hash }) => hash);
        for (const hash of n ? hashes.reverse() : hashes) getTokenCache(each).lastUses.set(hash, at);
      }
      await Promise.all(apps().map(flushTokenUses));
      const stored = await app.db.read.select().from(tokens).where(eq(tokens.label, "used"));
      expect(new Set(stored.map(({ last_used_at }) => last_used_at?.getTime()))).toEqual(
        new Set([at.getTime()]),
      );
    }
  });

  test("both can delete expired rows at the same time", async () => {
    const old = new Date(Date.now() - 48 * 3_600_000);
    const rows = Array.from({ length: 1_500 }, (_, n) => completedRow(idOf(n, "0170"), old));
    const [app] = apps();
    for (let at = 0; at < rows.length; at += 500) {
      await app.db.write((tx) => tx.insert(jobs).values(rows.slice(at, at + 500)));
    }
    await Promise.all(apps().map((each) => createPruner(each).prune()));
    expect(await app.db.read.select({ id: jobs.id }).from(jobs).where(like(jobs.id, "0170%"))).toEqual([]);
  });

  test("one requeues a job that lost its worker", async () => {
    const long_ago = new Date(Date.now() - 3_600_000);
    const hash = await deploy(ask, "acme", "u/admin/lost", "export const main = () => process.env.WM_JOB_ID");
    const [app] = apps();
    const lost = Array.from({ length: 20 }, (_, n) =>
      completedRow(idOf(n, "0180"), long_ago, {
        ...RUNNING,
        script_path: "u/admin/lost",
        script_hash: hash,
        worker: "gone",
        last_ping: long_ago,
        begun: true,
      }),
    );
    await app.db.write((tx) => tx.insert(jobs).values(lost));
    const rescuers = apps().map(createRescuer);
    await Promise.all(rescuers.map((each) => each.start()));
    for (const each of rescuers) await each.stop();
    const read = () => app.db.read.select().from(jobs).where(like(jobs.id, "0180%"));
    const ended = await until(async () => {
      const found = await read();
      return found.every(({ state }) => state === "completed") ? found : undefined;
    }, "their ends");
    for (const { id, attempts, result } of ended) expect([attempts, result]).toEqual([1, JSON.stringify(id)]);
  });

  describe("that communicate", () => {
    const knows = async (value: string) => {
      const set = { name: "WORD", value };
      await expectOk(ask("POST", `${w}/workspaces/set_environment_variable`, set));
      const call = async () => (await back("POST", `${w}/jobs/run_wait_result/p/u/admin/word`, {})).json();
      expect(await expectEventually(call, value)).toBe(value);
    };
    beforeAll(async () => {
      await deploy(ask, "acme", "u/admin/word", "export const main = () => process.env.WORD ?? 'none'");
      await knows("zero");
    });

    test("a message too large for a notification makes the other server read the database", async () => {
      const [front, other] = apps();
      const gap = Promise.withResolvers<void>();
      other.bus.onMissed(gap.resolve);
      front.bus.publish("script", "acme", "x".repeat(20_000));
      await gap.promise;
      await knows("one");
    });

    test("messages of other senders in the channel are ignored", async () => {
      const client = new SQL({ url: both.database_url, max: 1 });
      for (const said of ["no JSON", "null", '["x",1]', "[]", '"text"']) {
        await client`SELECT pg_notify('svc', ${said})`;
      }
      await client.close();
      await knows("two");
    });
  });

  test("one that hangs in a transaction keeps its locks for the duration of a lease", async () => {
    const { data_dir, database_url } = { ...both, data_dir: both.back.data_dir };
    // A write that waits runs once here, because what it waits for comes once.
    const rehearse = process.env.SVC_TEST_REHEARSE_WRITES;
    process.env.SVC_TEST_REHEARSE_WRITES = "";
    const other = await openDatabase({
      data_dir,
      database_url,
      max_bytes: 0,
      max_connections: 1,
      lease_s: 1,
    });
    process.env.SVC_TEST_REHEARSE_WRITES = rehearse ?? "";
    const taken = Promise.withResolvers<void>();
    const woken = Promise.withResolvers<void>();
    const standing = other
      .write(async (tx) => {
        await tx.lock("a name");
        taken.resolve();
        await woken.promise;
      })
      .then(
        () => "stored",
        () => "refused",
      );
    await taken.promise;
    await apps()[0].db.write((tx) => tx.lock("a name"));
    woken.resolve();
    expect(await standing).toBe("refused");
    await other.close();
  });
});
