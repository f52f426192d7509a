/** Limits of the concurrent runs of a script. */
import { describe, expect, test } from "bun:test";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import {
  ask,
  callScript,
  completed,
  folder,
  getJobState,
  jobs,
  setUpOptions,
  start,
} from "./options-setup.ts";

setUpOptions();

describe("a concurrency limit", () => {
  /** Ends only after `beside` runs have started. */
  const busy = `import { readdirSync, writeFileSync } from "node:fs";
  export async function main(ms: number, beside = 0) {
    const began = Date.now();
    if (beside > 0) writeFileSync("${folder}/" + process.env.WM_JOB_ID, "");
    while (readdirSync("${folder}").length < beside) await Bun.sleep(5);
    await Bun.sleep(ms);
    return [began, Date.now()];
  }`;

  /** Largest number of intervals that overlap. */
  const overlap = (intervals: [number, number][]) =>
    Math.max(...intervals.map(([at]) => intervals.filter(([from, to]) => from <= at && at < to).length));

  test("limits concurrent runs, loses none, and keeps their order", async () => {
    await deploy(ask, "acme", "u/admin/limited", busy, { concurrent_limit: 2 });
    const ids: string[] = [];
    for (let index = 0; index < 8; index++) ids.push(await start("u/admin/limited", { ms: 60, beside: 2 }));
    const ended = await Promise.all(ids.map(completed));
    const intervals = ended.map((job) => job.result as [number, number]);
    expect(overlap(intervals)).toBe(2);
    const begins = intervals.map(([began]) => began);
    // Two concurrent runs may start in either order.
    for (const [index, began] of begins.slice(2).entries()) expect(began).toBeGreaterThan(begins[index]!);
  });

  test("applies to synchronous calls too", async () => {
    await deploy(ask, "acme", "u/admin/single", busy, { concurrent_limit: 1 });
    const answers = await Promise.all([1, 2, 3].map(() => callScript("u/admin/single", { ms: 30 })));
    expect(overlap(answers.map((answer) => answer.json()))).toBe(1);
  });

  test("counts runs started within the window", async () => {
    await deploy(ask, "acme", "u/admin/windowed", busy, {
      concurrent_limit: 2,
      concurrency_time_window_s: 1,
    });
    const ids = [];
    for (let index = 0; index < 4; index++) ids.push(await start("u/admin/windowed", { ms: 1 }));
    const ended = await Promise.all(ids.map(completed));
    const begins = ended.map((job) => Date.parse(job.started_at)).sort((a, b) => a - b);
    expect(begins[2]! - begins[0]!).toBeGreaterThanOrEqual(1000);
    expect(begins[3]! - begins[1]!).toBeGreaterThanOrEqual(1000);
  });

  test("applies per key, and separately by arguments", async () => {
    const options = { concurrent_limit: 1, concurrency_key: "customer-$args[customer.id]" };
    await deploy(ask, "acme", "u/admin/keyed", busy, options);
    const a1 = await start("u/admin/keyed", { ms: 2_000, customer: { id: "a" } });
    await until(async () => ((await getJobState(a1)).running ? true : undefined));
    const a2 = await start("u/admin/keyed", { ms: 1, customer: { id: "a" } });
    const b1 = await start("u/admin/keyed", { ms: 1, customer: { id: "b" } });
    await completed(b1);
    expect((await getJobState(a2)).running).toBe(false);
    expect((await getJobState(a1)).type).toBe("QueuedJob");
    const [first, second] = [await completed(a1), await completed(a2)];
    expect(second.result[0]).toBeGreaterThanOrEqual(first.result[1]);
  });

  test("continues when a waiting or running job is canceled", async () => {
    await deploy(ask, "acme", "u/admin/stuck", busy, { concurrent_limit: 1 });
    const [running, waiting, last] = [
      await start("u/admin/stuck", { ms: 60_000 }),
      await start("u/admin/stuck", { ms: 1 }),
      await start("u/admin/stuck", { ms: 1 }),
    ];
    await until(async () => ((await getJobState(running!)).running ? true : undefined));
    for (const id of [waiting, running]) await expectOk(ask("POST", `${jobs}_u/queue/cancel/${id}`, {}));
    expect((await completed(last!)).success).toBe(true);
    expect((await completed(waiting!)).canceled).toBe(true);
  });

  test("continues when any number of waiting jobs is canceled or deleted", async () => {
    await deploy(ask, "acme", "u/admin/crowd", busy, { concurrent_limit: 1 });
    const [running, last] = [await start("u/admin/crowd", { ms: 60_000 }), crypto.randomUUID()];
    await until(async () => ((await getJobState(running)).running ? true : undefined));
    const waiting = await Promise.all(Array.from({ length: 24 }, () => start("u/admin/crowd", { ms: 1 })));
    const blocked = async (id: string) => Date.parse((await getJobState(id)).scheduled_for) > Date.now();
    await until(async () => ((await Promise.all(waiting.map(blocked))).every(Boolean) ? true : undefined));
    await start("u/admin/crowd", { ms: 1 }, `?job_id=${last}`);
    const [selected, removed] = [waiting.slice(0, 20), waiting.slice(20)];
    const answer = await expectOk(ask("POST", `${jobs}/queue/cancel_selection`, selected));
    expect(answer.json().sort()).toEqual(selected.sort());
    expect((await expectOk(ask("POST", `${jobs}/delete`, removed))).text).toBe("removed 4 jobs");
    await expectOk(ask("POST", `${jobs}_u/queue/cancel/${running}`, {}));
    expect((await completed(last)).success).toBe(true);
  });

  test.each([
    ["removed", "delete"],
    ["canceled", "queue/cancel_selection"],
  ])("continues when the next jobs, whose time is set, are %s", async (what, operation) => {
    const window = { concurrent_limit: 1, concurrency_time_window_s: 2 };
    const path = `u/admin/next_${what}`;
    await deploy(ask, "acme", path, busy, window);
    const [first, second, third, fourth] = [
      await start(path, { ms: 1 }),
      await start(path, { ms: 1 }),
      await start(path, { ms: 1 }),
      await start(path, { ms: 1 }),
    ];
    await completed(first!);
    const due = async (id: string) => Date.parse((await getJobState(id)).scheduled_for) - Date.now();
    await until(async () => ((await due(third!)) > 60_000 ? true : undefined), "the third to wait");
    await until(async () => ((await due(fourth!)) > 60_000 ? true : undefined), "the fourth to wait");
    await expectOk(ask("POST", `${jobs}/${operation}`, [second, third]));
    expect((await completed(fourth!)).success).toBe(true);
  });
});
