/** A flow as a tree of its steps, one line each. */

import type { FlowModule, FlowValue, InputTransform } from "../../../src/engines/flow-engine/types.ts";
import { bodiesOf } from "../../../src/features/runs/flows/modules.ts";

export interface Line {
  text: string;
  inner: Line[];
}

/** Every step is a line, and so is every branch; what is inside of them stands below. */
export function linesOf({ modules, failure_module, preprocessor_module }: FlowValue): Line[] {
  return [
    ...(preprocessor_module ? [toLine(preprocessor_module)] : []),
    ...modules.map(toLine),
    ...(failure_module ? [toLine(failure_module)] : []),
  ];
}

function toLine(module: FlowModule): Line {
  const inner = bodiesOf(module).map(({ modules }) => modules.map(toLine));
  const names = branchNames(module);
  return {
    text: [`${module.id}  ${titleOf(module)}`, ...remarksOf(module)].join(", "),
    inner: names.length > 0 ? names.map((text, index) => ({ text, inner: inner[index]! })) : inner.flat(),
  };
}

/** What the branches of a step are called, in the order of its lists of steps; none where it has no branches. */
export function branchNames({ value }: FlowModule): string[] {
  if (value.type === "branchone") {
    return [...value.branches.map(({ expr, summary }) => `if ${summary || short(expr)}`), "otherwise"];
  }
  if (value.type !== "branchall") return [];
  return value.branches.map(({ summary }, index) => summary || `branch ${index + 1}`);
}

/** The step's summary with its kind, or what it does where it has no summary. */
export function titleOf({ summary, value }: FlowModule): string {
  const kind = kindOf(value);
  return summary ? `${short(summary)} (${kind})` : kind;
}

function kindOf(value: FlowModule["value"]): string {
  switch (value.type) {
    case "rawscript":
      return `${value.language} script`;
    case "script":
      return `script ${value.path}${value.hash ? `, version ${value.hash}` : ""}`;
    case "flow":
      return `flow ${value.path}`;
    case "forloopflow":
      return `for each of ${transformText(value.iterator)}${value.parallel ? ", in parallel" : ""}`;
    case "whileloopflow":
      return "again and again";
    case "branchone":
      return "one branch";
    case "branchall":
      return `all branches${value.parallel ? ", in parallel" : ""}`;
    case "identity":
      return "nothing";
    case "refused":
      return `cannot run: ${short(value.problem)}`;
  }
}

function remarksOf(module: FlowModule): string[] {
  const { skip_if, stop_after_if, stop_after_all_iters_if, sleep } = module;
  const remarks: [present: unknown, text: () => string][] = [
    [module.mock?.enabled, () => "mocked"],
    [skip_if, () => `skipped if ${short(skip_if!.expr)}`],
    [module.retry, () => "with retries"],
    [module.continue_on_error, () => "failing does no harm"],
    [stop_after_if, () => `stops if ${short(stop_after_if!.expr)}`],
    [stop_after_all_iters_if, () => `stops the flow if ${short(stop_after_all_iters_if!.expr)}`],
    [module.suspend, () => "then waits for approval"],
    [sleep, () => `then sleeps ${transformText(sleep!)} s`],
  ];
  return remarks.filter(([present]) => present).map(([, text]) => text());
}

function transformText(transform: InputTransform): string {
  if (transform.type === "refused") return short(transform.problem);
  return short(transform.type === "javascript" ? transform.expr : (JSON.stringify(transform.value) ?? ""));
}

const MAX_TEXT = 60;

/** On one line, and not too long for it. */
function short(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT - 1)}…` : line;
}

/** The lines below a first one, with the branches of the tree drawn before them. */
export function drawTree(lines: readonly Line[], before = ""): string {
  return lines
    .map(({ text, inner }, index) => {
      const isLast = index === lines.length - 1;
      const own = `${before}${isLast ? "└─ " : "├─ "}${text}\n`;
      return own + drawTree(inner, `${before}${isLast ? "   " : "│  "}`);
    })
    .join("");
}
