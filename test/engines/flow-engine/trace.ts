/** Formats the actions of the engine as text. */
import type { EngineCommand, ResultRef } from "../../../src/engines/flow-engine/state.ts";
import type { FrameRun } from "./driver.ts";

interface Known {
  now: number;
  resolve(ref: ResultRef): unknown;
}

/** Formats a command of the engine as a line of a case: its type, step and value. */
export function lineOf(run: FrameRun, step: EngineCommand, flow: Known): string {
  switch (step.type) {
    case "run": {
      const args = text(step.args) === "{}" ? "" : ` ${text(step.args)}`;
      const within = step.timeout_s === undefined ? "" : ` within ${step.timeout_s}s`;
      return `run ${leafLabel(run, step)}${args}${within}`;
    }
    case "frame": {
      const after = step.previous ? ` after ${text(flow.resolve(step.previous))}` : "";
      return `frame ${frameLabel(run, step)}${after}`;
    }
    case "items":
      return `items ${text(step.items)}`;
    case "wake":
      return `wake in ${(step.at - flow.now) / 1000}s`;
    case "input":
    case "early":
      return `${step.type} ${text(flow.resolve(step.result))}`;
    case "end":
      return `end ${step.status}${step.stopped ? " stopped" : ""} ${text(flow.resolve(step.result))}`;
  }
}

const text = (value: unknown) => JSON.stringify(value);
const at = (id: string, path: string) => (path ? `${id}@${path}` : id);

/** @param index of the loop's iteration; undefined outside of loops */
export function pathOf({ path }: FrameRun, index: number | undefined): string {
  return index === undefined ? path : [path, index].filter((part) => part !== "").join(".");
}

export function leafLabel(
  run: FrameRun,
  { leaf, module, index }: Extract<EngineCommand, { type: "run" }>,
): string {
  return at(leaf.id, pathOf(run, leaf.id === module ? undefined : index));
}

/** A loop's iteration is `l@0`, a branch `b:0` or `b:default`. */
export function frameLabel(
  parent: FrameRun,
  { module, body, index }: Extract<EngineCommand, { type: "frame" }>,
): string {
  if (body.of === "loop") return at(module, pathOf(parent, index));
  return at(`${module}:${body.of === "branch" ? body.branch : "default"}`, parent.path);
}
