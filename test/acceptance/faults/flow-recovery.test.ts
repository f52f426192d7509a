/** Flows whose server or worker is lost are resumed, or fail. */
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { jobs as jobTable } from "../../../src/platform/queue/tables.ts";
import { createDatabase, createTemporaryFolder, startTestServer } from "../../support/harness.ts";
import {
  childOf,
  createGate,
  createSquareStep,
  createStaticInput,
  ended,
  gate,
  identity,
  js,
  listNumbers,
  loop,
  push,
  SQUARE_STEP,
  script,
  server,
  setUpFlowLife,
  start,
} from "./flow-life-setup.ts";

setUpFlowLife();

/** A data directory, and on PostgreSQL a database, that is kept between servers. */
async function lasting() {
  const data_dir = createTemporaryFolder("svc-flow-life-");
  const database = process.env.DATABASE_URL
    ? await createDatabase(process.env.DATABASE_URL, "migrated")
    : undefined;
  return {
    data_dir,
    ...(database ? { database_url: database.url } : {}),
    async remove() {
      rmSync(data_dir, { recursive: true, force: true });
      await database?.drop();
    },
  };
}

test("after a crash in the middle, the next start resumes the operation", async () => {
  const { remove, ...place } = await lasting();
  const file = createGate();
  try {
    let host = await startTestServer({ ...place, drain_s: 0 });
    const { token } = await host.workspace();
    const path = await push(
      [
        script("a", "export const main = () => 1", {}, { sleep: createStaticInput(0.5) }),
        gate("g"),
        loop("l", [SQUARE_STEP, gate("h")], { parallel: true }),
      ],
      {},
      host.as(token),
    );
    const ids = [];
    for (let wait = 0; wait < 6; wait++) {
      ids.push(await start(path, { file, items: [1, 2, 3] }, "", host.as(token)));
      await Bun.sleep(wait * 60);
    }
    await host.stop();
    await Bun.write(file, "");
    host = await startTestServer({ ...place });
    for (const id of ids) {
      expect(await ended(id, host.as(token))).toMatchObject({
        success: true,
        result: ["through", "through", "through"],
      });
    }
    await host.stop();
  } finally {
    await remove();
  }
}, 60_000);

test("a step whose worker was lost too often fails its flow; another one runs again", async () => {
  const { remove, ...place } = await lasting();
  try {
    let host = await startTestServer({ ...place, drain_s: 0 });
    const { token } = await host.workspace();
    const file = createGate();
    const path = await push([gate("g")], {}, host.as(token));
    const ids = [
      await start(path, { file }, "", host.as(token)),
      await start(path, { file }, "", host.as(token)),
    ];
    await host.stop();
    await Bun.write(file, "");
    const { openDatabase } = await import("../../../src/database/open-database.ts");
    const db = await openDatabase({
      data_dir: place.data_dir,
      database_url: place.database_url,
      max_bytes: 0,
      max_connections: 2,
    });
    for (const [index, id] of ids.entries()) {
      const lost = {
        state: "running",
        worker: "gone",
        last_ping: new Date(0),
        started_at: new Date(0),
        attempts: index === 0 ? 3 : 0,
      } as const;
      await db.write(
        async (tx) => void (await tx.update(jobTable).set(lost).where(eq(jobTable.parent_job, id))),
      );
    }
    await db.close();
    host = await startTestServer({ ...place });
    expect((await ended(ids[0]!, host.as(token))).result.error).toMatchObject({
      name: "WorkerLost",
      step_id: "g",
    });
    expect(await ended(ids[1]!, host.as(token))).toMatchObject({ success: true, result: "through" });
    await host.stop();
  } finally {
    await remove();
  }
}, 60_000);

test.skipIf(!process.env.DATABASE_URL)(
  "two servers process the same runs",
  async () => {
    const { remove, ...place } = await lasting();
    const other_dir = createTemporaryFolder("svc-flow-life-");
    try {
      const one = await startTestServer({ ...place, workers: 2 });
      const { token } = await one.workspace();
      const two = await startTestServer({ ...place, data_dir: other_dir, workers: 2 });
      const path = await push(
        [
          script("a", "export const main = () => 1", {}, { sleep: createStaticInput(0.05) }),
          loop("l", [SQUARE_STEP, identity("z")], { parallel: true }),
          loop("m", [createSquareStep("j")], { parallel: true }),
        ],
        {},
        one.as(token),
      );
      const items = listNumbers(20);
      const ids = await Promise.all(
        listNumbers(8).map((n) => start(path, { items }, "", (n % 2 ? one : two).as(token))),
      );
      for (const id of ids) {
        expect(await ended(id, one.as(token))).toMatchObject({
          success: true,
          result: items.map((n) => n * n),
        });
      }
      await two.stop();
      await one.stop();
    } finally {
      await remove();
      rmSync(other_dir, { recursive: true, force: true });
    }
  },
  60_000,
);

test.skipIf(Boolean(process.env.DATABASE_URL))(
  "transitions that the database rejects temporarily are planned again",
  async () => {
    const { Database } = await import("bun:sqlite");
    const path = await push([
      gate("g"),
      script("b", "export const main = (r: unknown) => [r]", { r: js("results.g") }),
    ]);
    const file = createGate();
    const id = await start(path, { file });
    await childOf(id, "g");
    const other = new Database(join(server.data_dir, "svc.db"));
    other.run(
      "CREATE TRIGGER refusing BEFORE INSERT ON jobs WHEN NEW.flow_step_id = 'b' BEGIN SELECT RAISE(FAIL, 'refused'); END",
    );
    await Bun.write(file, "");
    await Bun.sleep(250);
    other.run("DROP TRIGGER refusing");
    other.close();
    expect(await ended(id)).toMatchObject({ success: true, result: ["through"] });
  },
);
