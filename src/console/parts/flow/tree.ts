/** Converts the value of a flow to a tree of steps for display. */

type Fields = Record<string, unknown>;

export interface StepNode {
  id: string;
  title: string;
  kind: StepKind;
  /** What it runs: a path, a language, an expression. */
  detail: string;
  /** Options that change how it runs, in words. */
  notes: string[];
  bodies: StepBody[];
  /** Bodies run one beside the other. */
  parallel: boolean;
}

export interface StepBody {
  label: string;
  nodes: StepNode[];
}

export type StepKind = "code" | "script" | "flow" | "loop" | "while" | "choice" | "all" | "pass" | "unknown";

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const recordsOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);
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

function bodiesOf(value: Fields): StepBody[] {
  switch (value.type) {
    case "forloopflow":
    case "whileloopflow":
      return [{ label: "", nodes: nodesOf(value.modules) }];
    case "branchone":
      return [
        ...recordsOf(value.branches).map(({ summary, expr, modules }) => ({
          label: textOf(summary) || `if ${textOf(expr)}`,
          nodes: nodesOf(modules),
        })),
        { label: "otherwise", nodes: nodesOf(value.default) },
      ];
    case "branchall":
      return recordsOf(value.branches).map(({ summary, modules }, index) => ({
        label: textOf(summary) || `Branch ${index + 1}`,
        nodes: nodesOf(modules),
      }));
    default:
      return [];
  }
}

function detailOf(value: Fields): string {
  const iterator = isRecord(value.iterator) ? value.iterator : {};
  switch (value.type) {
    case "rawscript":
      return textOf(value.language);
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
  if (isRecord(step.retry)) notes.push("tried again when it fails");
  if (isRecord(step.sleep)) notes.push("waits first");
  if (isRecord(step.skip_if)) notes.push("skipped at times");
  if (isRecord(step.stop_after_if)) notes.push("may end the flow");
  if (step.continue_on_error === true) notes.push("goes on after an error");
  if (isRecord(step.mock) && step.mock.enabled === true) notes.push("mocked");
  if (value.parallel === true) notes.push("in parallel");
  return notes;
}

function nodeOf(step: Fields): StepNode {
  const value = isRecord(step.value) ? step.value : {};
  const id = textOf(step.id);
  const kind = KINDS[textOf(value.type)] ?? "unknown";
  return {
    id,
    title: textOf(step.summary) || id,
    kind,
    detail: detailOf(value),
    notes: notesOf(step, value),
    bodies: bodiesOf(value),
    parallel: kind === "choice" || kind === "all",
  };
}

const nodesOf = (modules: unknown): StepNode[] => recordsOf(modules).map(nodeOf);

/** Returns the steps of a flow in order, its preprocessor first and its failure step apart. */
export function treeOf(value: unknown): { nodes: StepNode[]; failure: StepNode | undefined } {
  const flow = isRecord(value) ? value : {};
  const first = isRecord(flow.preprocessor_module) ? [nodeOf(flow.preprocessor_module)] : [];
  const failure = isRecord(flow.failure_module) ? nodeOf(flow.failure_module) : undefined;
  return { nodes: [...first, ...nodesOf(flow.modules)], failure };
}

export const countSteps = (nodes: StepNode[]): number =>
  nodes.reduce(
    (sum, { bodies }) => sum + 1 + bodies.reduce((all, body) => all + countSteps(body.nodes), 0),
    0,
  );

/** Finds the step of a flow with the given id, as it is stored. */
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
