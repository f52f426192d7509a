/** Results of steps: read by step, and reused by a run that restarts at a later step. */
import { describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { flowFrames } from "../../../../src/features/code/flows/tables.ts";
import { expectOk, until } from "../../../support/harness.ts";
import { jobs, js, loop, on, push, runFlow, script, setUpResults, start } from "./flow-results-setup.ts";

setUpResults();

const resultOf = (id: string, step: string, query = "") =>
  on.ask("GET", `${jobs}/result_by_id/${id}/${step}${query}`);

test("the result of a step is read by its id, if it exists", async () => {
  const branch = {
    id: "one",
    value: { type: "branchone", branches: [], default: [script("deep", "export const main = () => 'deep'")] },
  };
  const times = script("x", "export const main = (v: number) => v * 3", { v: js("flow_input.iter.value") });
  const waits = script(
    "late",
    `${on.gates.script}export const main = async () => { await pass("late"); return 1 }`,
  );
  const id = await start(
    await push([
      script("a", "export const main = () => ({ list: [{ n: 7 }] })"),
      branch,
      loop("l", [times]),
      waits,
    ]),
    { items: [1, 2] },
  );
  const { modules } = await untilRunning(id, "late");
  expect(modules).toHaveLength(4);
  expect((await resultOf(id, "a")).json()).toEqual({ list: [{ n: 7 }] });
  expect((await resultOf(id, "a", "?json_path=list.0.n")).json()).toBe(7);
  expect((await resultOf(id, "deep")).json()).toBe("deep");
  expect((await resultOf(id, "l")).json()).toEqual([3, 6]);
  for (const step of ["late", "nowhere"]) expect((await resultOf(id, step)).status).toBe(404);
  const info = (await on.ask("GET", `${jobs}_u/get_flow_debug_info/${id}`)).json();
  expect(info.root_job).toMatchObject({ id, flow_status: { step: 3 } });
  expect(Object.values<any>(info).filter((job) => job.is_flow_step)).toHaveLength(6);
  expect(info[modules[0].job]).toMatchObject({ parent_job: id, success: true });
  on.gates.open("late");
  await on.completed(id);
  expect((await resultOf(id, "late")).json()).toBe(1);
  expect((await on.ask("GET", `${jobs}_u/get_flow_debug_info/${id}`)).status).toBe(400);
});

async function untilRunning(id: string, step: string): Promise<any> {
  for (;;) {
    const { flow_status } = (await on.ask("GET", `${jobs}_u/get/${id}`)).json();
    if (flow_status?.modules.some((each: any) => each.id === step && each.type === "InProgress"))
      return flow_status;
  }
}

test("the jobs of a run are listed with their steps and iterations, of all or a part of it", async () => {
  const nested = loop("l", [loop("m", [script("x", "export const main = () => 'a long text'")])]);
  const job = await runFlow([script("a", "export const main = () => 1"), nested], { items: [1, 2] });
  const listed = async (id: string) =>
    (await expectOk(on.ask("GET", `${jobs}/flow/steps/${id}`))).json() as any;
  const told = await listed(job.id);
  const placesOf = ({ steps }: any) =>
    steps.map(({ step_id, index = "" }: any) => `${step_id}${index}`).sort();
  expect(told).toMatchObject({ truncated: false, approvals: [] });
  expect(told.version).toBeGreaterThan(0);
  const inner = ["m0", "m1"];
  expect(placesOf(told)).toEqual(["a", "l0", "l1", ...inner, ...inner].sort());
  const first = told.steps.find(({ step_id }: any) => step_id === "a");
  expect(first).toMatchObject({ parent_job: job.id, success: true, type: "CompletedJob" });
  expect(first).not.toHaveProperty("email");
  expect(JSON.stringify(told)).not.toContain("a long text");
  const second = told.steps.find(({ step_id, index }: any) => step_id === "l" && index === 1);
  expect(placesOf(await listed(second.id))).toEqual(inner);
  expect((await on.ask("GET", `${jobs}/flow/steps/${first.id}`)).status).toBe(400);
  const other = await on.server.member("acme", "nosy");
  expect((await other.ask("GET", `${jobs}/flow/steps/${job.id}`)).status).toBe(404);
});

test("the results of others are not returned", async () => {
  const job = await runFlow([script("a", "export const main = () => 1")]);
  const other = await on.server.member("acme", "otto");
  expect((await other.ask("GET", `${jobs}/result_by_id/${job.id}/a`)).status).toBe(404);
  expect((await other.ask("POST", `${jobs}/restart/f/${job.id}/from/a`, {})).status).toBe(404);
});

describe("results by id", () => {
  const ten = script("deep", "export const main = (v: number) => v * 10", {
    v: js("flow_input.iter?.value ?? 1"),
  });
  const read = (id: string, expr: string) =>
    script(id, "export const main = (x: unknown) => x", { x: js(expr) });
  const branch = (modules: object[]) => ({
    id: "one",
    value: { type: "branchone", branches: [], default: modules },
  });
  const ten2 = script("other", "export const main = (v: number) => v * 100", {
    v: js("flow_input.iter.value"),
  });
  const args = { items: [1, 2] };

  test("are found for any finished step, also inside branches and loops; an unknown one is null", async () => {
    const WAYS: [modules: object[], expr: string, expected: unknown][] = [
      [[branch([ten])], "[results.deep, results.one]", [10, 10]],
      [[branch([ten]), loop("l", [read("in", "results.deep")])], "results.l", [10, 10]],
      [[loop("l", [ten])], "results.deep", 20],
      [[loop("l", [read("first", "1"), ten])], "results.deep", 20],
      [[loop("l", [branch([ten])])], "results.deep", 20],
      [[ten], "[results.unknown, results.nobody?.x ?? 7, results.last]", [null, 7, null]],
    ];
    for (const [modules, expr, expected] of WAYS) {
      expect([expr, (await runFlow([...modules, read("last", expr)], args)).result]).toEqual([
        expr,
        expected,
      ]);
    }
  });

  test("are found by a run that started in another process, and by a restarted run", async () => {
    const waits = script(
      "waits",
      `${on.gates.script}export const main = async () => { await pass("byid"); return 1 }`,
    );
    const steps = [branch([ten]), loop("l", [ten2]), waits, read("last", "[results.deep, results.other]")];
    const id = await start(await push(steps), args);
    await untilRunning(id, "waits");
    // As if another server had changed the run meanwhile: it is read again.
    await on.server.server.app.db.write((tx) =>
      tx
        .update(flowFrames)
        .set({ version: sql`${flowFrames.version} + 1` })
        .where(eq(flowFrames.job_id, id)),
    );
    await on.gates.open("byid");
    expect((await on.completed(id)).result).toEqual([10, 200]);
    const again = await expectOk(on.ask("POST", `${jobs}/restart/f/${id}`, { step_id: "last" }));
    expect((await on.completed(again.text)).result).toEqual([10, 200]);
    expect((await expectOk(resultOf(id, "other"))).json()).toBe(200);
  });
});

test("the labels of a flow's result are its job's, each once", async () => {
  const labelled = script("a", "export const main = () => ({ wm_labels: ['red', 'blue', 'red'] })");
  expect(await runFlow([labelled])).toMatchObject({ labels: ["red", "blue"] });
});

test("a failure in parallel lets the others end, and returns the list so far", async () => {
  const odd = script(
    "i",
    `${on.gates.script}export const main = async (v: number) => {
      if (v === 1) throw new Error("no");
      await pass("slow");
      return v;
    }`,
    { v: js("flow_input.iter.value") },
  );
  const id = await start(await push([loop("l", [odd], { parallel: true })]), { items: [1, 2] });
  await until(async () => {
    const { flow_status } = (await expectOk(on.ask("GET", `${jobs}_u/get/${id}`))).json();
    return flow_status.modules[0].flow_jobs_success?.includes(false) || undefined;
  });
  await on.gates.open("slow");
  const { success, result } = await on.completed(id);
  expect([success, result]).toEqual([
    false,
    [{ error: expect.objectContaining({ message: "no", step_id: "i" }) }, 2],
  ]);
});

test.each(["result", "previous_result"])(
  "%s is the previous result, in iterators and branch predicates",
  async (name) => {
    const before = script("a", "export const main = () => [1, 2]");
    const times = script("x", "export const main = (v: number) => v * 3", { v: js("flow_input.iter.value") });
    const over = { id: "l", value: { type: "forloopflow", iterator: js(name), modules: [times] } };
    expect((await runFlow([before, over])).result).toEqual([3, 6]);
    const chosen = script("y", "export const main = () => 'chosen'");
    const other = script("z", "export const main = () => 'other'");
    const branches = [{ expr: `${name}.length === 2`, modules: [chosen] }];
    const one = { id: "b", value: { type: "branchone", branches, default: [other] } };
    expect((await runFlow([before, one])).result).toBe("chosen");
    // For the first step, it is the input of the flow.
    const first = { ...over, value: { ...over.value, iterator: js(`${name}.items`) } };
    expect((await runFlow([first], { items: [5] })).result).toEqual([15]);
  },
);
