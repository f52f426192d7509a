/** Runs that restart at a step of another run, with the results of the steps before. */
import { describe, expect, test } from "bun:test";
import { expectOk, until } from "../../../support/harness.ts";
import { jobs, js, loop, on, push, runFlow, script, setUpResults, start } from "./flow-results-setup.ts";

setUpResults();

/** A step that counts the runs of its process. */
const counting = (id: string, more = "") =>
  script(id, `let runs = 0; export const main = (...all: unknown[]) => ({ runs: ++runs${more} })`);

describe("a run that restarts at a step of another run", () => {
  const restart = (id: string, from: string, args: object = {}) =>
    on.ask("POST", `${jobs}/restart/f/${id}/from/${from}`, args);
  async function restarted(id: string, from: string, args?: object): Promise<any> {
    return on.completed((await expectOk(restart(id, from, args))).text);
  }

  test("reuses the results of the steps before, and the arguments", async () => {
    const stamp = script("a", "export const main = () => crypto.randomUUID()");
    const both = script("c", "export const main = (a: string, p: string, x: number) => [a, p, x]", {
      a: js("results.a"),
      p: js("previous_result"),
      x: js("flow_input.x"),
    });
    const first = await runFlow([stamp, script("b", "export const main = () => crypto.randomUUID()"), both], {
      x: 1,
    });
    const [a, b] = first.result;
    const last = await restarted(first.id, "c", { x: 2 });
    expect(last.result).toEqual([a, b, 2]);
    expect(last).toMatchObject({
      success: true,
      args: { x: 2 },
      script_path: first.script_path,
      flow_status: { restarted_from: { flow_job_id: first.id, step_id: "c" } },
    });
    const middle = await restarted(first.id, "b");
    expect(middle.result[0]).toBe(a);
    expect(middle.result[1]).not.toBe(b);
    const named = await expectOk(on.ask("POST", `${jobs}/restart/f/${first.id}`, { step_id: "c" }));
    expect((await on.completed(named.text)).result).toEqual([a, b, 1]);
    // A run that reused results can be restarted from as well.
    expect((await restarted(middle.id, "c")).result).toEqual([a, middle.result[1], 1]);
  });

  test("of a flow that failed there, or is not deployed", async () => {
    const fails = script(
      "b",
      "export const main = (x: number) => { if (x < 2) throw new Error('small'); return x }",
      {
        x: js("flow_input.x"),
      },
    );
    const value = { modules: [counting("a"), fails] };
    const started = await expectOk(on.ask("POST", `${jobs}/run/preview_flow`, { value, args: { x: 1 } }));
    const failed = await on.completed(started.text);
    expect(failed.success).toBe(false);
    expect(await restarted(failed.id, "b", { x: 3 })).toMatchObject({ result: 3, job_kind: "flowpreview" });
    const changed = {
      modules: [counting("a"), script("b", "export const main = (a: any) => a", { a: js("results.a") })],
    };
    const restarted_from = { flow_job_id: failed.id, step_id: "b" };
    const answer = await on.ask("POST", `${jobs}/run_wait_result/preview_flow`, {
      value: changed,
      restarted_from,
    });
    expect(answer.json()).toEqual({ runs: 1 });
  });

  test.each([
    ["iteration of a loop", loop("l", [stampOf("x")])],
    ["iteration of many steps", loop("l", [stampOf("y"), stampOf("x")])],
    ["iteration of a parallel loop", loop("l", [stampOf("x")], { parallel: true })],
    [
      "branch",
      {
        id: "l",
        value: { type: "branchall", branches: ["p", "q", "r"].map((id) => ({ modules: [stampOf(id)] })) },
      },
    ],
  ])("from the third %s on", async (_, module) => {
    const last = script("z", "export const main = (all: unknown) => all", { all: js("results.l") });
    const first = await runFlow([module, last], { items: [1, 2, 3] });
    const again = await restarted(first.id, "l/2");
    expect(again.result.slice(0, 2)).toEqual(first.result.slice(0, 2));
    expect(again.result).toHaveLength(3);
    expect(again.result[2]).not.toBe(first.result[2]);
    expect((await restarted(first.id, "l/0")).result[0]).not.toBe(first.result[0]);
  });

  const asking = (more: object = {}) => ({
    id: "ask",
    value: { type: "identity" },
    suspend: { required_events: 1, ...more },
  });
  const told = script(
    "told",
    "export const main = (resume: unknown, resumes: unknown, approvers: unknown) => [resume, resumes, approvers]",
    {
      resume: js("resume"),
      resumes: js("resumes"),
      approvers: js("approvers"),
    },
  );
  const untilAsked = (id: string) =>
    until(async () => {
      const { suspend } = (await on.ask("GET", `${jobs}_u/get/${id}`)).json();
      return suspend === 1 ? true : undefined;
    }, "the flow to ask");

  test("passes the answer of an approval, or its absence, to the first step", async () => {
    const approved = await start(await push([asking(), told]));
    await untilAsked(approved);
    await expectOk(on.ask("POST", `${jobs}/flow/resume/${approved}`, { yes: true }));
    const { result } = await on.completed(approved);
    expect(result).toEqual([{ yes: true }, [{ yes: true }], ["admin"]]);
    const again = await restarted(approved, "told");
    expect(again.result).toEqual(result);
    expect((await restarted(again.id, "told")).result).toEqual(result);

    const refused = await runFlow([asking({ timeout: 0, continue_on_disapprove_timeout: true }), told]);
    expect(refused.result[0].error.name).toBe("ApprovalTimeout");
    expect((await restarted(refused.id, "told")).result).toEqual(refused.result);
  });

  test("does not reuse an approval that was not given, or a failure", async () => {
    const waiting = await start(await push([asking(), told]));
    await untilAsked(waiting);
    await expectOk(on.ask("POST", `${jobs}_u/queue/cancel/${waiting}`, {}));
    const late = await runFlow([asking({ timeout: 0 }), told]);
    const failed = await runFlow([
      script("bad", "export const main = () => { throw new Error('no') }"),
      told,
    ]);
    const gone = [
      [waiting, "step ask was not approved"],
      [late.id, "step ask failed"],
      [failed.id, "step bad failed"],
    ];
    for (const [id, says] of gone) {
      const answer = await restart(id, "told");
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
    }
    const goes_on = script("bad", "export const main = () => { throw new Error('no') }");
    const passed = await runFlow([{ ...goes_on, continue_on_error: true }, told]);
    expect((await restarted(passed.id, "told")).success).toBe(true);
  });

  test("is rejected if there is nothing to continue from", async () => {
    const fails = script("b", "export const main = () => { throw new Error('no') }");
    const job = await runFlow([loop("l", [stampOf("x")]), fails, counting("c")], { items: [1] });
    const cases: [from: string, says: string][] = [
      ["zzz", "no top-level step zzz"],
      ["x", "no top-level step x"],
      ["l/1", "there is no number 1"],
      ["l/-1", "not the number"],
      ["b/1", "neither a loop"],
    ];
    for (const [from, says] of cases) {
      const answer = await restart(job.id, from);
      expect([from, answer.status, answer.text]).toEqual([from, 400, expect.stringContaining(says)]);
    }
    const step = job.flow_status.modules[1].job;
    expect((await restart(step, "b")).text).toContain("is not a run of a flow");
  });
});

function stampOf(id: string) {
  return script(id, "export const main = () => crypto.randomUUID()");
}
