import { expect, test } from "bun:test";
import fc from "fast-check";
import type { FlowModule } from "../../../src/engines/flow-engine/types.ts";
import { FlowRun, type FrameRun, type Job } from "./driver.ts";
import { Oracle, type World } from "./oracle.ts";
import { randomFlow } from "./random-flow.ts";

const HANDLER: FlowModule = {
  id: "failure",
  value: { type: "script", path: "f/test/failure", input_transforms: {} },
};

/** A number from 0 to 1 that depends only on the arguments. */
function chance(seed: number, ...parts: string[]): number {
  return Number(Bun.hash.wyhash(parts.join("|"), BigInt(seed)) % 1000n) / 1000;
}

/** A leaf in a loop has the same name whether or not its iteration is a frame. */
const withoutLastZeros = (tries: string) => tries.replace(/(\.0)+$/, "");

function worldOf(seed: number): World {
  // Later iterations always succeed: a loop that skips failures would never end otherwise.
  const isLate = (label: string) => /[@.]([3-9]|\d\d)/.test(label);
  return {
    leaf(label, tries) {
      const drawn = isLate(label) ? 1 : chance(seed, label, withoutLastZeros(tries));
      return drawn < 0.15 ? "failure" : drawn < 0.18 ? "canceled" : "success";
    },
    approval(label, tries) {
      const drawn = isLate(label) ? 1 : chance(seed, "approval", label, tries);
      return drawn < 0.2 ? "disapproved" : drawn < 0.3 ? "late" : "approved";
    },
    holds(expr, path) {
      const index = path.at(-1) ?? -1;
      if (expr.includes("no.such") && path.length === 1 && index === 0) {
        throw new ReferenceError("no is not defined");
      }
      return (
        expr === "true" || (expr.endsWith("=== 1") && index === 1) || (expr.endsWith(">= 2") && index >= 2)
      );
    },
  };
}

/** Executes a random possible event, sometimes one that has already happened. */
async function step(run: FlowRun, world: World, draw: (below: number) => number): Promise<boolean> {
  if (draw(4) === 0 && run.told.length > 0) {
    const { to, event } = run.told[draw(run.told.length)]!;
    const steps = run.trace.length;
    const isDue = event.type === "woken" && to.state.waits && to.state.waits.until <= run.now;
    if (!isDue) await run.tell(to, event);
    expect(run.trace.slice(steps).filter((line) => !line.includes("wake in"))).toEqual([]);
  }
  const leaves = [...run.running];
  const waiting = run.sleeping;
  const choices = [
    ...run.untold.map((job, index) => () => {
      run.untold.splice(index, 1);
      return run.tell(job.parent, job.ended!.event);
    }),
    // A step that is being canceled may end by itself first.
    ...leaves.map((job) => async () => {
      if (draw(2)) job.isCanceled = false;
      run.end(job);
    }),
    ...waiting.map((sleeper) => () => goOn(run, world, sleeper)),
  ];
  if (choices.length === 0) return false;
  await choices[draw(choices.length)]!();
  return true;
}

async function goOn(run: FlowRun, world: World, sleeper: FrameRun): Promise<void> {
  const { state, path } = sleeper;
  const module = sleeper.frame.modules[state.step]!.id;
  const approval =
    state.waits?.for === "events"
      ? world.approval(path ? `${module}@${path}` : module, sleeper.job?.tries ?? "")
      : "late";
  if (approval === "approved") return run.tell(sleeper, { type: "resumed", module });
  if (approval === "disapproved") return run.tell(sleeper, { type: "disapproved", module, by: "ann" });
  run.now = Math.max(run.now, sleeper.wake!);
  delete sleeper.wake;
  return run.tell(sleeper, { type: "woken" });
}

function outcomeOf(world: World, { label, tries }: Job) {
  const status = world.leaf(label, tries);
  const error = { name: "Error", message: `${label} ${status}` };
  return { status, result: status === "success" ? label : { error } };
}

/** A small, fast generator; its sequence depends only on the seed. */
function dice(seed: number): (below: number) => number {
  let drawn = 0;
  return (below) => Math.floor(chance(seed, String(drawn++)) * below);
}

test("any flow ends, once, with its correct result, whatever the order of events", async () => {
  await fc.assert(
    fc.asyncProperty(randomFlow, fc.boolean(), fc.nat(), fc.nat(), async (modules, handled, seed, order) => {
      const world = worldOf(seed);
      const frame = { modules, ...(handled ? { failure_module: HANDLER } : {}) };
      const run = new FlowRun(frame, {}, (job) => outcomeOf(world, job));
      const draw = dice(order);
      await run.tell(run.root, { type: "start" });
      for (let steps = 0; await step(run, world, draw); steps++) expect(steps).toBeLessThan(20_000);

      const oracle = new Oracle(world);
      const expected = oracle.flow(modules, frame.failure_module);
      expect(run.root.ends).toHaveLength(1);
      expect(run.frames.filter(({ ends, isCanceled }) => ends.length === 0 && !isCanceled)).toEqual([]);
      const [end] = run.root.ends;
      const actual = { status: end!.status as string, result: run.resolve(end!.result) };
      expect(actual).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
}, 60_000);

const leaf = { id: "a", value: { type: "script", path: "f/test/a", input_transforms: {} } } as const;

function loopOf(options: object, modules: readonly object[]): FlowModule {
  const items = Array.from({ length: 10_000 }, (_, index) => index);
  const iterator = { type: "static", value: items };
  const value = { type: "forloopflow", iterator, skip_failures: false, ...options, modules };
  return { id: "l", value: value as unknown as FlowModule["value"] };
}

test.each([
  ["one after the other", {}, [leaf], "success", 500],
  ["several steps each", {}, [leaf, { ...leaf, id: "b" }], "success", 500],
  ["at once", { parallel: true }, [leaf], "success", 15_000],
  ["at once, and all failing", { parallel: true, skip_failures: true }, [leaf], "failure", 15_000],
] as const)(
  "the state of a loop over 10,000 elements stays small: %s",
  async (_, options, body, status, most) => {
    const run = new FlowRun({ modules: [loopOf(options, body)] }, {}, ({ label }) => ({
      status,
      result: label,
    }));
    run.checkEvery = 100;
    let largest = 0;
    await run.tell(run.root, { type: "start" });
    for (let [first] = run.running; first; [first] = run.running) {
      run.end(first);
      for (let told = run.untold.shift(); told; told = run.untold.shift()) {
        await run.tell(told.parent, told.ended!.event);
      }
      if (run.jobs.size % 100 === 0) largest = Math.max(largest, JSON.stringify(run.root.state).length);
    }
    expect(run.resolve(run.root.ends[0]!.result)).toHaveLength(10_000);
    expect(largest).toBeGreaterThan(0);
    expect(largest).toBeLessThan(most);
    expect(JSON.stringify(run.root.state).length).toBeLessThan(500);
  },
  60_000,
);

test("parallel iterations are limited to as many as fit in the state", async () => {
  const loop = loopOf({ parallel: true, parallelism: 10_000 }, [leaf]);
  const run = new FlowRun({ modules: [loop] }, {}, ({ label }) => ({ status: "success", result: label }));
  await run.tell(run.root, { type: "start" });
  expect(run.running.size).toBe(1_000);
  expect(JSON.stringify(run.root.state).length).toBeLessThan(50_000);
});

test("the state of a step that is retried very often stays small", async () => {
  const retry = { constant: { attempts: 1_000, seconds: 1 } };
  const run = new FlowRun({ modules: [{ ...leaf, retry }] as unknown as FlowModule[] }, {}, () => ({
    status: "failure",
    result: null,
  }));
  run.checkEvery = 100;
  await run.tell(run.root, { type: "start" });
  for (let [job] = run.running; job; [job] = run.running) {
    run.end(job);
    await run.tell(run.root, run.untold.pop()!.ended!.event);
    run.now += 1_000;
    await run.tell(run.root, { type: "woken" });
  }
  expect(run.jobs.size).toBe(1_001);
  expect(run.root.ends).toHaveLength(1);
  expect(JSON.stringify(run.root.state).length).toBeLessThan(5_000);
});
