/** Flows that are canceled or removed: all their running jobs end. */
import { describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { flowFrames, flowItems } from "../../../src/features/code/flows/tables.ts";
import { jobs as jobTable } from "../../../src/platform/queue/tables.ts";
import { expectOk, until } from "../../support/harness.ts";
import {
  ask,
  childOf,
  createGate,
  ended,
  gate,
  identity,
  jobs,
  js,
  listNumbers,
  loop,
  push,
  SQUARE_STEP,
  script,
  server,
  setUpFlowLife,
  start,
  unfinished,
} from "./flow-life-setup.ts";

setUpFlowLife();

async function get(id: string, as = ask): Promise<any> {
  return (await expectOk(as("GET", `${jobs}_u/get/${id}`))).json();
}

describe("canceling", () => {
  test("works at any moment and leaves nothing behind", async () => {
    const inner = await push([identity("a"), loop("l", [SQUARE_STEP, identity("z")], { parallel: true })]);
    const call = {
      id: "f",
      value: { type: "flow", path: inner, input_transforms: { items: js("flow_input.items") } },
    };
    const path = await push([
      script("a", "export const main = () => 1"),
      call,
      loop("m", [SQUARE_STEP], { parallel: true }),
      identity("e"),
    ]);
    for (let round = 0; round < 12; round++) {
      const id = await start(path, { items: listNumbers(10) });
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
    const file = createGate();
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
    const first = await start(path, { file: createGate() });
    await childOf(first, "g");
    const file = createGate();
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
    const id = await start(path, { file: createGate() });
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
    const id = await start(path, { items: listNumbers(6), file: createGate() });
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
  }, 60_000);

  test("a running or a queued step", async () => {
    const path = await push([gate("g")]);
    const id = await start(path, { file: createGate() });
    await expectOk(ask("POST", `${jobs}_u/queue/cancel/${await childOf(id, "g")}`, {}));
    expect((await ended(id)).result.error).toMatchObject({ name: "Canceled", step_id: "g" });

    const limited = gate("g");
    Object.assign(limited.value, { concurrent_limit: 1, custom_concurrency_key: "one-gate" });
    const waiting = await push([limited]);
    const file = createGate();
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
  const file = createGate();
  const id = await start(path, { file });
  await childOf(id, "g");
  const again = await ask("POST", `${jobs}/run/f/${path}?job_id=${id}`, { file });
  expect(again.status).toBe(400);
  await Bun.write(file, "");
  expect(await ended(id)).toMatchObject({ success: true, result: "through" });
});

describe("removing", () => {
  test("keeps a step of a running flow; of a completed one, all data is deleted", async () => {
    const path = await push([identity("a"), gate("g"), loop("l", [identity("i")])]);
    const file = createGate();
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
    const id = await start(await push([loop("l", [SQUARE_STEP, identity("z")])]), { items: [2] });
    const job = await ended(id);
    const frame = job.flow_status.modules[0].flow_jobs[0];
    expect((await get(frame)).flow_status).toBeDefined();
    await expectOk(ask("POST", `${jobs}/completed/delete/${id}`));
    expect((await get(id)).flow_status).toBeUndefined();
    expect((await get(frame)).flow_status).toBeUndefined();
  });
});
