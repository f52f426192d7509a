/**
 * PostgreSQL is unreachable in each way that networks fail: calls are answered in time, and work continues
 * afterwards.
 */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import {
  type Ask,
  createDatabase,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";
import { type CuttableProxy, startProxy } from "../../support/peers/cuttable-proxy.ts";

setDefaultTimeout(90_000);

describe.skipIf(!process.env.DATABASE_URL)("while PostgreSQL cannot be reached", () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let proxy: CuttableProxy;
  let server: TestServer;
  let ask: Ask;

  beforeAll(async () => {
    database = await createDatabase(process.env.DATABASE_URL!);
    const url = new URL(database.url);
    proxy = await startProxy({ hostname: url.hostname, port: Number(url.port) });
    url.hostname = "127.0.0.1";
    url.port = String(proxy.port);
    server = await startTestServer({ database_url: url.href });
    ({ ask } = await server.workspace());
    await deploy(ask, "acme", "u/admin/one", "export const main = () => 1");
  });
  afterAll(async () => {
    proxy.mend();
    await server.stop();
    proxy[Symbol.dispose]();
    await database.drop();
  });

  /**
   * Longest duration of the first call during an outage, until the outage is detected. Later calls fail at
   * once.
   */
  const FIRST_MS = 10_000;
  const NEXT_MS = 4_000;

  afterEach(() => proxy.mend());

  const asked = async () => {
    const began = performance.now();
    const answers = await Promise.all([
      server.as(undefined)("GET", "/health"),
      ask("GET", "/health"),
      ask("GET", "/w/acme/scripts/list"),
      ask("POST", "/w/acme/jobs/run/p/u/admin/one", {}),
      ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/one", {}),
      server.operator("GET", "/metrics"),
    ]);
    return { answers, ms: performance.now() - began };
  };

  test.each(["cut", "refuse"] as const)(
    "by a network that would %s it, all calls are answered in time, with 503",
    async (how) => {
      proxy[how]();
      // All answers of one second are the same.
      await until(
        async () => ((await ask("GET", "/health")).status === 503 ? true : undefined),
        "bad health",
      );
      for (const most of [FIRST_MS, NEXT_MS]) {
        const { answers, ms } = await asked();
        const metrics = answers.pop()!;
        expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
        for (const { headers } of answers.slice(2)) expect(headers.get("retry-after")).toBe("1");
        expect(metrics.status).toBe(200);
        expect(ms).toBeLessThan(most);
      }
      proxy.mend();
      await until(async () => ((await ask("GET", "/health")).status === 200 ? true : undefined), "health");
      expect((await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/one", {}))).text).toBe("1");
      expect((await expectOk(ask("GET", "/w/acme/scripts/list"))).json()).toHaveLength(1);
    },
  );

  test("a statement that is only slow is not canceled", async () => {
    const { read } = server.server.app.db;
    const [row] = await read.rows<{ slept: string }>(sql`SELECT pg_sleep(7)::text AS slept`);
    expect(row).toEqual({ slept: "" });
  });
});
