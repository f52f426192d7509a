/** Converts the value of a flow to a tree of steps for display. */

import { type Fields, filterRecords, getAt, isEqualJson, isRecord } from "../../api/json.ts";
import { getLanguageLabel } from "../items/languages.ts";

/** Path from the root of the flow: names of fields and indexes of lists. */
export type StepPath = readonly (string | number)[];

export interface StepNode {
  id: string;
  path: StepPath;
  title: string;
  kind: StepKind;
  /** The path, language or expression that it runs. */
  detail: string;
  /** Descriptions of options that change how it runs. */
  notes: string[];
  bodies: StepBody[];
  /** Whether its bodies run in parallel. */
  parallel: boolean;
}

export interface StepBody {
  /** Path of the list of steps. */
  path: StepPath;
  label: string;
  nodes: StepNode[];
  /** The flow continues if it fails. */
  skipsFailures: boolean;
}

export type StepKind = "code" | "script" | "flow" | "loop" | "while" | "choice" | "all" | "pass" | "unknown";

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const KINDS: Record<string, StepKind> = {
  rawscript: "code",
  script: "script",
  flow: "flow",
  forloopflow: "loop",
  whileloopflow: "while",
  branchone: "choice",
  branchall: "all",
  identity: "pass",
};

/** A list of steps inside a step. */
export interface Body {
  /** Path from the step. */
  path: StepPath;
  label: string;
  /** The flow continues if it fails. */
  skipsFailures?: boolean;
}

/** Lists the bodies of a step in display order. */
export function listBodies({ value }: Fields): Body[] {
  if (!isRecord(value)) return [];
  const labelled = (labelOf: (branch: Fields, index: number) => string): Body[] =>
    filterRecords(value.branches).map((branch, index) => ({
      path: ["value", "branches", index, "modules"],
      label: textOf(branch.summary) || labelOf(branch, index),
      skipsFailures: value.type === "branchall" && branch.skip_failure === true,
    }));
  switch (value.type) {
    case "forloopflow":
    case "whileloopflow":
      return [{ path: ["value", "modules"], label: "", skipsFailures: value.skip_failures === true }];
    case "branchone":
      return [
        ...labelled(({ expr }) => `if ${textOf(expr)}`),
        { path: ["value", "default"], label: "otherwise" },
      ];
    case "branchall":
      return labelled((_, index) => `Branch ${index + 1}`);
    default:
      return [];
  }
}

function detailOf(value: Fields): string {
  const iterator = isRecord(value.iterator) ? value.iterator : {};
  switch (value.type) {
    case "rawscript":
      return getLanguageLabel(textOf(value.language));
    case "script":
    case "flow":
      return textOf(value.path);
    case "forloopflow":
      return textOf(iterator.expr) || JSON.stringify(iterator.value ?? "");
    default:
      return "";
  }
}

function notesOf(step: Fields, value: Fields): string[] {
  const notes: string[] = [];
  if (isRecord(step.suspend)) notes.push("waits for approval");
  if (isRecord(step.retry)) notes.push("retried when it fails");
  if (isRecord(step.sleep)) notes.push("waits before it starts");
  if (isRecord(step.skip_if)) notes.push("skipped under a condition");
  if (isRecord(step.stop_after_if)) notes.push("may end the flow");
  if (step.continue_on_error === true) notes.push("continues after an error");
  if (isRecord(step.mock) && step.mock.enabled === true) notes.push("pinned result");
  if (value.parallel === true) notes.push("in parallel");
  return notes;
}

function nodeOf(step: Fields, path: StepPath, keys: StepKeys): StepNode {
  const value = isRecord(step.value) ? step.value : {};
  const own = textOf(step.id);
  const id = keys?.get(step) ?? own;
  const kind = KINDS[textOf(value.type)] ?? "unknown";
  return {
    id,
    path,
    title: textOf(step.summary) || own || (KINDS[textOf(value.type)] ?? "step"),
    kind,
    detail: detailOf(value),
    notes: notesOf(step, value),
    bodies: listBodies(step).map((body) => {
      const list = [...path, ...body.path];
      return {
        label: body.label,
        path: list,
        nodes: nodesOf(getAt(step, body.path), list, keys),
        skipsFailures: body.skipsFailures === true,
      };
    }),
    parallel: kind === "choice" || kind === "all",
  };
}

const nodesOf = (modules: unknown, list: StepPath, keys: StepKeys): StepNode[] =>
  Array.isArray(modules)
    ? modules.flatMap((step, index) => (isRecord(step) ? [nodeOf(step, [...list, index], keys)] : []))
    : [];

/** Keys of steps whose ids are not unique. */
type StepKeys = ReadonlyMap<unknown, string> | undefined;

/** Returns the steps of a flow in order, with the preprocessor first, and its failure step separately. */
export function buildTree(
  value: unknown,
  keys?: StepKeys,
): { nodes: StepNode[]; failure: StepNode | undefined } {
  const flow = isRecord(value) ? value : {};
  const single = (field: string) =>
    isRecord(flow[field]) ? nodeOf(flow[field], ["value", field], keys) : undefined;
  const first = single("preprocessor_module");
  const nodes = nodesOf(flow.modules, ["value", "modules"], keys);
  return { nodes: first ? [first, ...nodes] : nodes, failure: single("failure_module") };
}

export type Tree = ReturnType<typeof buildTree>;

/** Replaces the nodes that equal those of an earlier tree by these, so that they are not rendered again. */
export function reuseNodes({ nodes, failure }: Tree, before: Tree): Tree {
  const known = new Map<string, StepNode>();
  const note = (node: StepNode) => {
    known.set(node.id, node);
    for (const body of node.bodies) body.nodes.forEach(note);
  };
  before.nodes.forEach(note);
  const reuse = (node: StepNode): StepNode => {
    const old = known.get(node.id);
    if (old && isEqualJson(old, node)) return old;
    return { ...node, bodies: node.bodies.map((body) => ({ ...body, nodes: body.nodes.map(reuse) })) };
  };
  return {
    nodes: nodes.map(reuse),
    failure: failure && before.failure && isEqualJson(failure, before.failure) ? before.failure : failure,
  };
}

export const countSteps = (nodes: StepNode[]): number =>
  nodes.reduce(
    (sum, { bodies }) => sum + 1 + bodies.reduce((all, body) => all + countSteps(body.nodes), 0),
    0,
  );

/** Finds the stored step with the given id. */
export function findStep(value: unknown, id: string): Fields | undefined {
  if (Array.isArray(value)) {
    for (const each of value) {
      const found = findStep(each, id);
      if (found) return found;
    }
  } else if (isRecord(value)) {
    if (value.id === id && isRecord(value.value)) return value;
    const { modules, default: other, branches, value: inner, failure_module, preprocessor_module } = value;
    return findStep(
      [modules, other, branches, inner, failure_module, preprocessor_module].filter(Boolean),
      id,
    );
  }
  return undefined;
}
