/** Flows that are canceled, interrupted, limited or get in each other's way. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { and, eq, ne } from "drizzle-orm";
import { flowFrames, flowItems } from "../../../src/features/code/flows/tables.ts";
import { jobs as jobTable } from "../../../src/platform/queue/tables.ts";
import {
  type Ask,
  createDatabase,
  expectOk,
  openFolder,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";

let server: TestServer;
let ask: Ask;
const folder = openFolder("svc-flow-life-");

beforeAll(async () => {
  server = await startTestServer({ workers: 4 });
  ({ ask } = await server.workspace());
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const jobs = "/w/acme/jobs";
const js = (expr: string) => ({ type: "javascript", expr });
const fixed = (value: unknown) => ({ type: "static", value });
const script = (id: string, content: string, inputs: object = {}, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
  ...more,
});
const identity = (id: string) => ({ id, value: { type: "identity" } });
const loop = (id: string, modules: object[], more: object = {}) => ({
  id,
  value: { type: "forloopflow", iterator: js("flow_input.items"), skip_failures: false, modules, ...more },
});
const squareAs = (id: string) =>
  script(id, "export const main = (v: number) => v * v", { v: js("flow_input.iter.value") });
const square = squareAs("i");
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** A step that runs until a file is there. */
const gate = (id: string) =>
  script(
    id,
    "export async function main(file: string) { while (!(await Bun.file(file).exists())) await Bun.sleep(5); return 'through' }",
    { file: js("flow_input.file") },
  );
let gates = 0;
const newGate = () => join(folder, `gate-${++gates}`);

let count = 0;
async function push(modules: object[], more: object = {}, as = ask): Promise<string> {
  const path = `u/admin/flow_${++count}`;
  await expectOk(as("POST", "/w/acme/flows/create", { path, summary: "", value: { modules, ...more } }));
  return path;
}
async function start(path: string, args: object = {}, query = "", as = ask): Promise<string> {
  return (await expectOk(as("POST", `${jobs}/run/f/${path}${query}`, args))).text;
}
async function result(path: string, args: object = {}): Promise<any> {
  return (await expectOk(ask("POST", `${jobs}/run_wait_result/f/${path}`, args))).json();
}
async function get(id: string, as = ask): Promise<any> {
  return (await expectOk(as("GET", `${jobs}_u/get/${id}`))).json();
}
const ended = (id: string, as = ask): Promise<any> =>
  until(async () => {
    const answer = await as("GET", `${jobs}_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, `the end of ${id}`);
const childOf = (id: string, step: string): Promise<string> =>
  until(async () => {
    const [row] = await server.server.app.db.read
      .select({ id: jobTable.id })
      .from(jobTable)
      .where(
        and(eq(jobTable.parent_job, id), eq(jobTable.flow_step_id, step), eq(jobTable.state, "running")),
      );
    return row?.id;
  }, `a running job of step ${step}`);
const unfinished = async (root: string) =>
  (
    await server.server.app.db.read
      .select({ id: jobTable.id, kind: jobTable.kind, state: jobTable.state })
      .from(jobTable)
      .where(and(eq(jobTable.root_job, root), ne(jobTable.state, "completed")))
  ).length;

describe("loops of steps without a process", () => {
  test.each([5, 2_500])(
    "%i identities at once",
    async (many) => {
      const items = numbers(many);
      const path = await push([loop("l", [identity("i")], { parallel: true })]);
      expect((await result(path, { items })).length).toBe(many);
      const nested = await push([
        loop("l", [{ id: "b", value: { type: "branchone", branches: [], default: [square] } }]),
      ]);
      expect(await result(nested, { items: items.slice(0, 3) })).toEqual([0, 1, 4]);
    },
    30_000,
  );

  test("a loop with too many frames for one transaction continues in further ones", async () => {
    const empty = { id: "b", value: { type: "branchone", branches: [], default: [identity("x")] } };
    const path = await push([loop("l", [empty, identity("y")])]);
    const all = await result(path, { items: numbers(700) });
    expect(all.length).toBe(700);
  }, 30_000);

  test("an endless one can be canceled, and others continue meanwhile", async () => {
    const path = await push([
      { id: "w", value: { type: "whileloopflow", skip_failures: false, modules: [identity("i")] } },
    ]);
    const id = await start(path);
    expect(await result(await push([script("a", "export const main = () => 1")]))).toBe(1);
    await expectOk(ask("POST", `${jobs}_u/queue/cancel/${id}`, {}));
    expect(await ended(id)).toMatchObject({ success: false, canceled: true });
    await until(async () => ((await unfinished(id)) === 0 ? true : undefined));
  }, 30_000);
});

/** Of a failed loop the first error in its list. */
function errorIn(result: any): any {
  return Array.isArray(result) ? errorIn(result.find(Boolean)) : result.error;
}

describe("a flow that calls itself", () => {
  const call = (path: string) => ({
    id: "again",
    value: { type: "flow", path, input_transforms: { items: js("flow_input.items") } },
  });
  const either = (inside: object) => ({
    id: "b",
    value: { type: "branchone", branches: [{ expr: "true", modules: [inside] }], default: [] },
  });
  const WAYS: [name: string, modules: (path: string) => object[], says: string][] = [
    ["in a branch", (path) => [either(call(path))], "flows call each other 50 deep"],
    ["once an iteration", (path) => [loop("l", [call(path)])], "flows call each other 50 deep"],
    [
      "in many iterations at once",
      (path) => [loop("l", [call(path)], { parallel: true, skip_failures: true })],
      "calls itself, and 1000 of its runs inside of each other are under way",
    ],
  ];

  test.each(WAYS)(
    "%s fails",
    async (_, modules, says) => {
      const path = `u/admin/flow_${count + 1}`;
      await push(modules(path));
      const id = await start(path, { items: [1, 2, 3] });
      const { success, result } = await ended(id);
      const { name, step_id, message } = errorIn(result);
      expect([success, name, step_id]).toEqual([false, "RecursionError", "again"]);
      expect(message).toContain(says);
      await until(async () => ((await unfinished(id)) === 0 ? true : undefined));
    },
    60_000,
  );

  test("an indirect one fails", async () => {
    const [one, other] = [`u/admin/flow_${count + 1}`, `u/admin/flow_${count + 2}`];
    await push([call(other)]);
    await push([call(one)]);
    expect((await ended(await start(one))).result.error).toMatchObject({
      name: "RecursionError",
      step_id: "again",
    });
  });
});

describe("canceling", () => {
  test("works at any moment and leaves nothing behind", async () => {
    const inner = await push([identity("a"), loop("l", [square, identity("z")], { parallel: true })]);
    const call = {
      id: "f",
      value: { type: "flow", path: inner, input_transforms: { items: js("flow_input.items") } },
    };
    const path = await push([
      script("a", "export const main = () => 1"),
      call,
      loop("m", [square], { parallel: true }),
      identity("e"),
    ]);
    for (let round = 0; round < 12; round++) {
      const id = await start(path, { items: numbers(10) });
      await Bun.sleep(round * 7);
      const canceled = await ask("POST", `${jobs}_u/queue/cancel/${id}`, { reason: "enough" });
      expect(canceled.status).toBe(200);
      const job = await ended(id);
      if (job.canceled) expect(job.canceled_reason).toBe("enough");
      else expect(job.success).toBe(true);
      await until(async () => ((await unfinished(id)) === 0 ? true : undefined), "the end of all steps");
    }
  }, 60_000);

  test("a scheduled flow, or one blocked by its concurrency limit, ends at once; the next one gets its slot", async () => {
    const path = await push([gate("g")], { concurrent_limit: 1 });
    const scheduled = await start(path, {}, "?scheduled_in_secs=600");
    const file = newGate();
    const first = await start(path, { file });
    await childOf(first, "g");
    const second = await start(path, { file });
    const third = await start(path, { file });
    for (const id of [scheduled, second]) {
      await expectOk(ask("POST", `${jobs}_u/queue/cancel/${id}`, {}));
      expect(await ended(id)).toMatchObject({ canceled: true });
    }
    expect((await get(third)).running).toBe(false);
    await Bun.write(file, "");
    expect(await ended(first)).toMatchObject({ success: true, result: "through" });
    expect(await ended(third)).toMatchObject({ success: true });
  });

  test("a canceled flow releases its concurrency slot", async () => {
    const path = await push([gate("g")], { concurrent_limit: 1 });
    const first = await start(path, { file: newGate() });
    await childOf(first, "g");
    const file = newGate();
    await Bun.write(file, "");
    const second = await start(path, { file });
    await expectOk(ask("POST", `${jobs}_u/queue/cancel/${first}`, {}));
    expect(await ended(second)).toMatchObject({ success: true });
  });

  test("fails the flow around a canceled inner one", async () => {
    const inner = await push([gate("g")]);
    const path = await push([
      { id: "f", value: { type: "flow", path: inner, input_transforms: { file: js("flow_input.file") } } },
    ]);
    const id = await start(path, { file: newGate() });
    const nested = await childOf(id, "f");
    const leaf = await childOf(nested, "g");
    await expectOk(ask("POST", `${jobs}_u/queue/cancel/${nested}`, { reason: "not this" }));
    const job = await ended(id);
    expect(job).toMatchObject({ success: false, canceled: false });
    expect(job.result.error.step_id).toBe("f");
    expect(await ended(leaf)).toMatchObject({ canceled: true });
  });

  test("ends scripts that run in a parallel loop", async () => {
    const path = await push([loop("l", [gate("g"), identity("z")], { parallel: true })]);
    const id = await start(path, { items: numbers(6), file: newGate() });
    const running = () =>
      server.server.app.db.read
        .select({ id: jobTable.id })
        .from(jobTable)
        .where(and(eq(jobTable.flow_step_id, "g"), eq(jobTable.root_job, id), eq(jobTable.state, "running")));
    const scripts = await until(async () => {
      const rows = await running();
      return rows.length >= 4 ? rows : undefined;
    }, "as many scripts as there are workers");
    await expectOk(ask("POST", `${jobs}_u/queue/cancel/${id}`, {}));
    expect(await ended(id)).toMatchObject({ canceled: true });
    for (const script of scripts) expect(await ended(script.id)).toMatchObject({ canceled: true });
    await until(async () => ((await unfinished(id)) === 0 ? true : undefined), "the end of all steps");
  }, 30_000);

  test("a step that runs, or is queued", async () => {
    const path = await push([gate("g")]);
    const id = await start(path, { file: newGate() });
    await expectOk(ask("POST", `${jobs}_u/queue/cancel/${await childOf(id, "g")}`, {}));
    expect((await ended(id)).result.error).toMatchObject({ name: "Canceled", step_id: "g" });

    const limited = gate("g");
    Object.assign(limited.value, { concurrent_limit: 1, custom_concurrency_key: "one-gate" });
    const waiting = await push([limited]);
    const file = newGate();
    const first = await start(waiting, { file });
    await childOf(first, "g");
    const second = await start(waiting, { file });
    const queued = await until(async () => {
      const [row] = await server.server.app.db.read
        .select()
        .from(jobTable)
        .where(and(eq(jobTable.parent_job, second), eq(jobTable.state, "queued")));
      return row?.id;
    }, "the queued step");
    await expectOk(ask("POST", `${jobs}_u/queue/cancel/${queued}`, {}));
    expect((await ended(second)).result.error).toMatchObject({ name: "Canceled", step_id: "g" });
    await Bun.write(file, "");
    expect(await ended(first)).toMatchObject({ success: true });
  });
});

test("rejects another flow with the id of a running one, which continues", async () => {
  const path = await push([gate("g"), identity("e")]);
  const file = newGate();
  const id = await start(path, { file });
  await childOf(id, "g");
  const again = await ask("POST", `${jobs}/run/f/${path}?job_id=${id}`, { file });
  expect(again.status).toBe(400);
  await Bun.write(file, "");
  expect(await ended(id)).toMatchObject({ success: true, result: "through" });
});

test("many concurrent flows, each with loops, branches and sleeps, complete correctly", async () => {
  const path = await push([
    script(
      "a",
      "export const main = (n: number) => n + 1",
      { n: js("flow_input.n") },
      { sleep: fixed(0.05) },
    ),
    loop(
      "l",
      [
        script("i", "export const main = (v: number, a: number) => v + a", {
          v: js("flow_input.iter.value"),
          a: js("results.a"),
        }),
      ],
      { parallel: true },
    ),
    {
      id: "b",
      value: {
        type: "branchall",
        parallel: true,
        branches: [{ modules: [identity("x")] }, { modules: [identity("y")] }],
      },
    },
    script("e", "export const main = (l: number[], b: unknown[]) => [l.reduce((a, b) => a + b), b.length]", {
      l: js("results.l"),
      b: js("results.b"),
    }),
  ]);
  const items = numbers(8);
  const answers = await Promise.all(numbers(30).map((n) => result(path, { n, items })));
  expect(answers).toEqual(numbers(30).map((n) => [28 + 8 * (n + 1), 2]));
}, 60_000);

describe("removing", () => {
  test("keeps a step of a running flow; of a completed one, all data is deleted", async () => {
    const path = await push([identity("a"), gate("g"), loop("l", [identity("i")])]);
    const file = newGate();
    const id = await start(path, { file, items: [1] });
    const leaf = await childOf(id, "g");
    const { flow_status } = await get(id);
    const first = flow_status.modules[0].job;
    expect((await ask("POST", `${jobs}/delete`, [first, leaf])).text).toContain("removed 0 jobs");
    await Bun.write(file, "");
    expect(await ended(id)).toMatchObject({ success: true });
    await expectOk(ask("POST", `${jobs}/delete`, [id]));
    const { read } = server.server.app.db;
    expect(await read.select().from(flowFrames).where(eq(flowFrames.job_id, id))).toEqual([]);
    expect(await read.select().from(flowItems).where(eq(flowItems.job_id, id))).toEqual([]);
  });

  test("keeps a flow readable after its data was deleted", async () => {
    const id = await start(await push([loop("l", [square, identity("z")])]), { items: [2] });
    const job = await ended(id);
    const frame = job.flow_status.modules[0].flow_jobs[0];
    expect((await get(frame)).flow_status).toBeDefined();
    await expectOk(ask("POST", `${jobs}/completed/delete/${id}`));
    expect((await get(id)).flow_status).toBeUndefined();
    expect((await get(frame)).flow_status).toBeUndefined();
  });
});

/** A data directory, and on PostgreSQL a database, that outlives a server. */
async function lasting() {
  const data_dir = openFolder("svc-flow-life-");
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
  const file = newGate();
  try {
    let host = await startTestServer({ ...place, drain_s: 0 });
    const { token } = await host.workspace();
    const path = await push(
      [
        script("a", "export const main = () => 1", {}, { sleep: fixed(0.5) }),
        gate("g"),
        loop("l", [square, gate("h")], { parallel: true }),
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
    const file = newGate();
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
  "two servers work on the same runs",
  async () => {
    const { remove, ...place } = await lasting();
    const other_dir = openFolder("svc-flow-life-");
    try {
      const one = await startTestServer({ ...place, workers: 2 });
      const { token } = await one.workspace();
      const two = await startTestServer({ ...place, data_dir: other_dir, workers: 2 });
      const path = await push(
        [
          script("a", "export const main = () => 1", {}, { sleep: fixed(0.05) }),
          loop("l", [square, identity("z")], { parallel: true }),
          loop("m", [squareAs("j")], { parallel: true }),
        ],
        {},
        one.as(token),
      );
      const items = numbers(20);
      const ids = await Promise.all(
        numbers(8).map((n) => start(path, { items }, "", (n % 2 ? one : two).as(token))),
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
    const file = newGate();
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
