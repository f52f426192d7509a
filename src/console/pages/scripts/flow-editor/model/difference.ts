/** Compares two versions of a flow, step by step. */
import { type Fields, isEqualJson, isRecord } from "../../../../api/json.ts";
import { listBodies } from "../../../../parts/flow/tree.ts";
import type { FlowDocument } from "./document.ts";
import { listSteps, type PlacedStep } from "./steps.ts";

export interface StepDifference {
  id: string;
  title: string;
  kind: "added" | "removed" | "changed" | "moved";
  /** The step itself, without nested steps. */
  before: Fields | undefined;
  after: Fields | undefined;
}

/** Returns the step without nested steps: they are replaced by their ids, so that a change is reported once. */
function omitNestedSteps({ step }: PlacedStep): Fields {
  if (!isRecord(step.value)) return step;
  if (listBodies(step).length === 0) {
    // Fields that the server computes from the code.
    const { lock: _lock, ...value } = step.value;
    return { ...step, value };
  }
  const { modules: _modules, default: _default, ...value } = step.value;
  if (!Array.isArray(value.branches)) return { ...step, value };
  const branches = value.branches.map((branch) => {
    if (!isRecord(branch)) return branch;
    const { modules: _steps, ...rest } = branch;
    return rest;
  });
  return { ...step, value: { ...value, branches } };
}

const listOf = ({ path, around }: PlacedStep): string =>
  `${around.at(-1) ?? ""}/${path.slice(around.length === 0 ? 0 : -2, -1).join("/")}`;

/** Returns the position of each step: its list, and the closest step before it that exists in the other version too. */
function listPlaces(steps: PlacedStep[], other: PlacedStep[]): Map<string, string> {
  const lists = new Map(other.map((placed) => [placed.key, listOf(placed)]));
  const previous = new Map<string, string>();
  return new Map(
    steps.map((placed) => {
      const list = listOf(placed);
      const place = `${list} ${previous.get(list) ?? ""}`;
      if (lists.get(placed.key) === list) previous.set(list, placed.key);
      return [placed.key, place];
    }),
  );
}

const titleOf = ({ id, step }: PlacedStep): string =>
  typeof step.summary === "string" && step.summary !== "" ? step.summary : id;

/** Lists added, removed, changed and moved steps, and changed settings of the flow. */
export function compareFlows(before: FlowDocument, after: FlowDocument): StepDifference[] {
  const [steps, newSteps] = [listSteps(before), listSteps(after)];
  const old = new Map(steps.map((placed) => [placed.key, placed]));
  const next = new Map(newSteps.map((placed) => [placed.key, placed]));
  const [places, newPlaces] = [listPlaces(steps, newSteps), listPlaces(newSteps, steps)];
  const found: StepDifference[] = [];
  for (const [key, placed] of next) {
    const earlier = old.get(key);
    const common = { id: key, title: titleOf(placed), after: omitNestedSteps(placed) };
    if (!earlier) found.push({ ...common, kind: "added", before: undefined });
    else if (!isEqualJson(omitNestedSteps(earlier), omitNestedSteps(placed)))
      found.push({ ...common, kind: "changed", before: omitNestedSteps(earlier) });
    else if (places.get(key) !== newPlaces.get(key))
      found.push({ ...common, kind: "moved", before: omitNestedSteps(earlier) });
  }
  for (const [key, placed] of old) {
    if (!next.has(key))
      found.push({
        id: key,
        title: titleOf(placed),
        kind: "removed",
        before: omitNestedSteps(placed),
        after: undefined,
      });
  }
  return found;
}

/** Returns the flow without its steps: texts, input schema and settings. */
export function omitSteps({ value, ...document }: FlowDocument): Fields {
  const {
    modules: _modules,
    failure_module: _failure,
    preprocessor_module: _preprocessor,
    ...settings
  } = value;
  return { ...document, value: settings };
}
