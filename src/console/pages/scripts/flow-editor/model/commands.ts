/**
 * Edits of a flow: pure functions that return a new document. It shares unchanged parts with the old one; an edit that
 * is not possible returns the same document.
 */
import { type Fields, getAt, isRecord } from "../../../../api/json.ts";
import { listBodies } from "../../../../parts/flow/tree.ts";
import { type FlowDocument, type Path, setValueAt } from "./document.ts";
import { mapExpressions, renameInExpression } from "./expressions.ts";
import { assignFreeIds, createIdGenerator } from "./ids.ts";
import { createFailureStep, createPreprocessor } from "./new-steps.ts";
import {
  FAILURE,
  findPlacedStep,
  findSlotAfter,
  listSteps,
  mapStepLists,
  type PlacedStep,
  PREPROCESSOR,
  type Slot,
} from "./steps.ts";

/**
 * Inserts steps at a position. Missing and used ids are replaced.
 * @returns the document, and the ids of the new steps
 */
export function insertSteps(flow: FlowDocument, slot: Slot, steps: Fields[]): [FlowDocument, string[]] {
  const list = getAt(flow, slot.list) ?? [];
  if (!Array.isArray(list)) return [flow, []];
  const added = assignFreeIds(flow, steps).map(withIdFirst);
  const next = [...list.slice(0, slot.index), ...added, ...list.slice(slot.index)];
  return [setValueAt(flow, slot.list, next), added.map(({ id }) => String(id))];
}

const withIdFirst = ({ id, ...fields }: Fields): Fields => ({ id, ...fields });

/** Removes steps with all nested steps. */
export function removeSteps(flow: FlowDocument, keys: ReadonlySet<string>): FlowDocument {
  const placed = listSteps(flow).filter(({ key }) => keys.has(key));
  if (placed.length === 0) return flow;
  const steps = new Set<unknown>(placed.map(({ step }) => step));
  let next = flow;
  for (const { path } of placed) {
    if (path === FAILURE || path === PREPROCESSOR) next = setValueAt(next, path, undefined);
  }
  return mapStepLists(next, (list) => list.filter((step) => !steps.has(step)));
}

/** Returns the key of the step after the removed ones, or else before them; undefined if none is left. */
export function findStepAfterRemoval(steps: PlacedStep[], keys: ReadonlySet<string>): string | undefined {
  const isGone = ({ key, around }: PlacedStep) => keys.has(key) || around.some((outer) => keys.has(outer));
  const last = steps.findLastIndex(isGone);
  const next =
    steps.slice(last + 1).find((placed) => !isGone(placed)) ?? steps.findLast((placed) => !isGone(placed));
  return next?.key;
}

/** Lists the selected steps that are not inside another selected step, in the order of the flow. */
export function listOutermost(flow: FlowDocument, keys: ReadonlySet<string>): Fields[] {
  return listSteps(flow)
    .filter(({ key, around }) => keys.has(key) && !around.some((outer) => keys.has(outer)))
    .map(({ step }) => step);
}

/** Moves steps to a position. A position inside one of them is rejected. */
export function moveSteps(flow: FlowDocument, keys: ReadonlySet<string>, slot: Slot): FlowDocument {
  const inLists = new Set(
    listSteps(flow)
      .filter((placed) => keys.has(placed.key) && findSlotAfter(placed))
      .map(({ key }) => key),
  );
  const moved = listOutermost(flow, inLists);
  const list = getAt(flow, slot.list) ?? [];
  if (moved.length === 0 || !Array.isArray(list)) return flow;
  const mark: Fields = {};
  const marked = setValueAt(flow, slot.list, [...list.slice(0, slot.index), mark, ...list.slice(slot.index)]);
  const gone = new Set<unknown>(moved);
  let isPlaced = false;
  const next = mapStepLists(marked, (steps) =>
    steps.flatMap((step) => {
      if (step === mark) {
        isPlaced = true;
        return moved;
      }
      return gone.has(step) ? [] : [step];
    }),
  );
  const isInside = listSteps(next).length !== listSteps(flow).length;
  if (!isPlaced || isInside) return flow;
  return isSameOrder(flow, next) ? flow : next;
}

const isSameOrder = (a: FlowDocument, b: FlowDocument): boolean => {
  const places = ({ path, key }: { path: Path; key: string }) => `${key} ${path.join("/")}`;
  return listSteps(a).map(places).join("\n") === listSteps(b).map(places).join("\n");
};

/** Moves a step up or down: past its neighbour, or out of the list at its end. */
export function nudgeStep(flow: FlowDocument, key: string, by: -1 | 1): FlowDocument {
  const placed = findPlacedStep(flow, key);
  const after = placed && findSlotAfter(placed);
  if (!after) return flow;
  const index = after.index - 1;
  const list = getAt(flow, after.list) as unknown[];
  const target = index + by;
  if (target >= 0 && target < list.length) {
    return moveSteps(flow, new Set([key]), { list: after.list, index: by > 0 ? index + 2 : index - 1 });
  }
  const outer = findPlacedStep(flow, placed.around.at(-1) ?? "");
  const behind = outer && findSlotAfter(outer);
  if (!behind) return flow;
  return moveSteps(flow, new Set([key]), {
    list: behind.list,
    index: by > 0 ? behind.index : behind.index - 1,
  });
}

/** Inserts copies of steps after the last of them. */
export function duplicateSteps(flow: FlowDocument, keys: ReadonlySet<string>): [FlowDocument, string[]] {
  const copied = listOutermost(flow, keys);
  const last = listSteps(flow).findLast(({ step }) => step === copied.at(-1));
  const slot = last && findSlotAfter(last);
  return slot ? insertSteps(flow, slot, copied) : [flow, []];
}

export type WrapperType = "forloopflow" | "whileloopflow" | "branchone" | "branchall";

/** Wraps consecutive steps of one list in a loop or branch. @returns the document, and the new step's id */
export function wrapSteps(
  flow: FlowDocument,
  keys: ReadonlySet<string>,
  kind: WrapperType,
): [FlowDocument, string | undefined] {
  const modules = listOutermost(flow, keys);
  const places = listSteps(flow).filter(({ step }) => modules.includes(step));
  const slots = places.map(findSlotAfter);
  const [first] = slots;
  const isRow = slots.every(
    (slot, index) =>
      slot && first && slot.list.join("/") === first.list.join("/") && slot.index === first.index + index,
  );
  if (!first || !isRow) return [flow, undefined];
  const id = createIdGenerator(flow)();
  const list = getAt(flow, first.list) as unknown[];
  const from = first.index - 1;
  const outer = { id, value: wrapped(kind, modules) };
  const next = [...list.slice(0, from), outer, ...list.slice(from + modules.length)];
  return [setValueAt(flow, first.list, next), id];
}

function wrapped(type: WrapperType, modules: Fields[]): Fields {
  switch (type) {
    case "forloopflow":
      return {
        type,
        iterator: { type: "javascript", expr: "previous_result" },
        skip_failures: false,
        modules,
      };
    case "whileloopflow":
      return { type, skip_failures: false, modules };
    case "branchone":
      return { type, branches: [{ expr: "true", modules }], default: [] };
    case "branchall":
      return { type, branches: [{ modules }], parallel: true };
  }
}

/** Replaces a loop or branches by the steps inside. */
export function unwrapStep(flow: FlowDocument, key: string): FlowDocument {
  const placed = findPlacedStep(flow, key);
  if (!placed || !findSlotAfter(placed)) return flow;
  const bodies = listBodies(placed.step);
  if (bodies.length === 0) return flow;
  const inner = bodies.flatMap(({ path }) => (getAt(placed.step, path) as unknown[] | undefined) ?? []);
  return mapStepLists(flow, (list) =>
    list.includes(placed.step) ? list.flatMap((step) => (step === placed.step ? inner : [step])) : list,
  );
}

/** Changes the id of a step, and rewrites the expressions that refer to it. */
export function renameStep(flow: FlowDocument, key: string, id: string): FlowDocument {
  const placed = findPlacedStep(flow, key);
  if (!placed || placed.id === id || id === "") return flow;
  const renamed = setValueAt(flow, [...placed.path, "id"], id);
  if (placed.id === "") return renamed;
  const ids = new Map([[placed.id, id]]);
  return {
    ...renamed,
    value: mapExpressions(renamed.value, (expression) => renameInExpression(expression, ids)),
  };
}

/** Sets a field of a step; undefined removes it. */
export function setStepField(flow: FlowDocument, key: string, field: Path, next: unknown): FlowDocument {
  const placed = findPlacedStep(flow, key);
  return placed ? setValueAt(flow, [...placed.path, ...field], next) : flow;
}

const branchesOf = (flow: FlowDocument, key: string) => {
  const placed = findPlacedStep(flow, key);
  const value = placed && isRecord(placed.step.value) ? placed.step.value : {};
  const path = placed && [...placed.path, "value", "branches"];
  return { path, type: value.type, branches: Array.isArray(value.branches) ? value.branches : [] };
};

/** Adds a branch at the end. */
export function addBranch(flow: FlowDocument, key: string): FlowDocument {
  const { path, type, branches } = branchesOf(flow, key);
  if (!path) return flow;
  const branch = type === "branchone" ? { expr: "false", modules: [] } : { modules: [] };
  return setValueAt(flow, path, [...branches, branch]);
}

/** Removes a branch with its steps. */
export function removeBranch(flow: FlowDocument, key: string, index: number): FlowDocument {
  const { path, branches } = branchesOf(flow, key);
  return path && index < branches.length
    ? setValueAt(
        flow,
        path,
        branches.filter((_, each) => each !== index),
      )
    : flow;
}

/** Changes the order of branches; the first one whose condition is true runs. */
export function moveBranch(flow: FlowDocument, key: string, index: number, by: -1 | 1): FlowDocument {
  const { path, branches } = branchesOf(flow, key);
  const target = index + by;
  if (!path || target < 0 || target >= branches.length || index >= branches.length) return flow;
  const next = [...branches];
  [next[index], next[target]] = [next[target], next[index]];
  return setValueAt(flow, path, next);
}

/** Adds the failure step or the preprocessor. @returns also its id */
export const addSpecialStep = (
  flow: FlowDocument,
  which: "failure" | "preprocessor",
): [FlowDocument, string[]] => [
  which === "failure"
    ? setValueAt(flow, FAILURE, createFailureStep())
    : setValueAt(flow, PREPROCESSOR, createPreprocessor()),
  [which],
];
