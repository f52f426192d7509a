/** Finds steps in a flow, any part of which may be missing or malformed, and rewrites lists of steps. */
import { type Fields, getAt, isRecord } from "../../../../api/json.ts";
import { listBodies } from "../../../../parts/flow/tree.ts";
import type { FlowDocument, Path } from "./document.ts";

export interface PlacedStep {
  /** Identifies the step in the editor: its id, or its position if the id is missing or not unique. */
  key: string;
  id: string;
  step: Fields;
  path: Path;
  /** Keys of the enclosing steps, outermost first. */
  around: string[];
}

/** A position in a list of steps. */
export interface Slot {
  list: Path;
  index: number;
}

export const ROOT: Path = ["value", "modules"];
export const FAILURE: Path = ["value", "failure_module"];
export const PREPROCESSOR: Path = ["value", "preprocessor_module"];

const LOOPS: ReadonlySet<unknown> = new Set(["forloopflow", "whileloopflow"]);

export const isLoop = ({ value }: Fields): boolean => isRecord(value) && LOOPS.has(value.type);

const text = (value: unknown): string => (typeof value === "string" ? value : "");
export const getStepId = ({ id }: Fields): string => (typeof id === "number" ? String(id) : text(id));

/** Results of `listSteps`, which several parts need at each change. Documents are never changed in place. */
const listed = new WeakMap<FlowDocument, PlacedStep[]>();

/** Lists all steps: those of the flow in order, outer ones before nested ones, then failure step and preprocessor. */
export function listSteps(flow: FlowDocument): PlacedStep[] {
  const known = listed.get(flow);
  if (known) return known;
  const steps = collectSteps(flow);
  listed.set(flow, steps);
  return steps;
}

function collectSteps(flow: FlowDocument): PlacedStep[] {
  const found: PlacedStep[] = [];
  const add = (step: unknown, path: Path, around: string[]) => {
    if (!isRecord(step)) return;
    const placed = { key: getStepId(step), id: getStepId(step), step, path, around };
    found.push(placed);
    const counted = counts.get(placed.id) ?? 0;
    counts.set(placed.id, counted + 1);
    if (placed.id === "" || counted > 0) placed.key = `/${path.join("/")}`;
    for (const body of listBodies(step)) addAll([...path, ...body.path], [...around, placed.key]);
  };
  const counts = new Map<string, number>();
  const addAll = (list: Path, around: string[]) => {
    const steps = getAt(flow, list);
    if (Array.isArray(steps))
      for (const [index, step] of steps.entries()) add(step, [...list, index], around);
  };
  addAll(ROOT, []);
  add(getAt(flow, FAILURE), FAILURE, []);
  add(getAt(flow, PREPROCESSOR), PREPROCESSOR, []);
  return found;
}

export const findPlacedStep = (flow: FlowDocument, key: string): PlacedStep | undefined =>
  listSteps(flow).find((placed) => placed.key === key);

/** Returns the position after a step; undefined for the failure step and the preprocessor, which are in no list. */
export function findSlotAfter({ path }: PlacedStep): Slot | undefined {
  const index = path.at(-1);
  return typeof index === "number" ? { list: path.slice(0, -1), index: index + 1 } : undefined;
}

type ListChange = (steps: unknown[]) => unknown[];

/** Applies a change to every list of steps, outer ones first. Unchanged parts are shared with the old flow. */
export function mapStepLists(flow: FlowDocument, change: ListChange): FlowDocument {
  const value = mapFields(flow.value, {
    modules: (list) => mapList(list, change),
    failure_module: (step) => mapStep(step, change),
    preprocessor_module: (step) => mapStep(step, change),
  });
  return value === flow.value ? flow : { ...flow, value };
}

function mapList(list: unknown, change: ListChange): unknown {
  if (!Array.isArray(list)) return list;
  const next = change(list).map((step) => mapStep(step, change));
  return next.length === list.length && next.every((step, index) => step === list[index]) ? list : next;
}

function mapStep(step: unknown, change: ListChange): unknown {
  if (!isRecord(step) || !isRecord(step.value)) return step;
  const value = mapFields(step.value, {
    modules: (list) => (isLoop(step) ? mapList(list, change) : list),
    branches: (branches) => (listBodies(step).length > 0 ? mapBranches(branches, change) : branches),
    default: (list) => (listBodies(step).length > 0 ? mapList(list, change) : list),
  });
  return value === step.value ? step : { ...step, value };
}

function mapBranches(branches: unknown, change: ListChange): unknown {
  if (!Array.isArray(branches)) return branches;
  const mapped = branches.map((branch) =>
    isRecord(branch) ? mapFields(branch, { modules: (list) => mapList(list, change) }) : branch,
  );
  return mapped.every((branch, index) => branch === branches[index]) ? branches : mapped;
}

/** Applies a function to some fields, if they exist. */
function mapFields(fields: Fields, by: Record<string, (value: unknown) => unknown>): Fields {
  let result = fields;
  for (const [name, map] of Object.entries(by)) {
    if (!Object.hasOwn(fields, name)) continue;
    const next = map(fields[name]);
    if (next !== fields[name]) result = { ...result, [name]: next };
  }
  return result;
}
