/** Derives the state of a flow run's page from its jobs. */
import { expect, test } from "bun:test";
import { type FlowSteps, RunModel, type StepJob } from "../../src/console/parts/flow/run-model.ts";
import { buildTree } from "../../src/console/parts/flow/tree.ts";

const code = (id: string) => ({ id, value: { type: "rawscript", language: "bun", content: "" } });
const step = (id: string, type: string, more: object) => ({ id, value: { type, ...more } });

let made = 0;
function job(step_id: string, success: boolean, more: Partial<StepJob> = {}): StepJob {
  const id = String(++made);
  const kind = { job_kind: "script", type: "CompletedJob", parent_job: "root" };
  return { id, step_id, success, canceled: false, ...kind, ...more } as unknown as StepJob;
}

function modelOf(modules: unknown[], steps: StepJob[]) {
  const { nodes } = buildTree({ modules });
  const listed = { steps, approvals: [] } as unknown as FlowSteps;
  return { nodes, model: new RunModel(nodes, "root", listed, {}) };
}

const loop = (skip_failures: boolean) =>
  step("b", "forloopflow", { iterator: { type: "static", value: [] }, skip_failures, modules: [code("c")] });

test("a failure that a loop skips does not explain the run's, and its loop is completed", () => {
  const iterations = [job("b", true, { index: 0 }), job("b", false, { index: 1 })];
  const { nodes, model } = modelOf(
    [code("a"), loop(true), code("d")],
    [job("a", true), ...iterations, job("d", false)],
  );
  expect(model.culpritOf(nodes)).toBe("d");
  expect(model.seen.get("b")).toMatchObject({ state: "succeeded", picked: 1 });
  expect(model.seen.get("c")!.state).toBe("failed");
});

test("a failure within a loop or a branch explains the run's", () => {
  const looped = modelOf([loop(false)], [job("b", true, { index: 0 }), job("b", false, { index: 1 })]);
  expect(looped.model.culpritOf(looped.nodes)).toBe("c");
  const branches = [
    { modules: [code("c")], skip_failure: true },
    { modules: [code("d"), code("e")], skip_failure: false },
  ];
  const frames = [0, 1].map((index) => job("b", false, { index, job_kind: "flownode" }));
  const inside = [
    job("c", false, { parent_job: frames[0]!.id }),
    job("d", true, { parent_job: frames[1]!.id }),
    job("e", false, { parent_job: frames[1]!.id }),
  ];
  const split = modelOf([step("b", "branchall", { branches })], [...frames, ...inside]);
  expect(split.model.culpritOf(split.nodes)).toBe("e");
  expect(split.model.seen.get("b")!.state).toBe("failed");
});

test("a failed step after which the flow continued is not shown as the cause if a later one ended it", () => {
  const { nodes, model } = modelOf([code("a"), code("b")], [job("a", false), job("b", false)]);
  expect(model.culpritOf(nodes)).toBe("b");
  const fine = modelOf([code("a")], [job("a", true)]);
  expect(fine.model.culpritOf(fine.nodes)).toBeUndefined();
});
