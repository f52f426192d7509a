/** Formats a flow as a tree, one line per step. */

import type { FlowModule, FlowValue, InputTransform } from "../../../src/engines/flow-engine/types.ts";
import { listBodies } from "../../../src/features/runs/flows/modules.ts";

export interface TreeLine {
  text: string;
  inner: TreeLine[];
}

/** Creates a line for each step and branch; nested steps are below them. */
export function createTreeLines({ modules, failure_module, preprocessor_module }: FlowValue): TreeLine[] {
  return [
    ...(preprocessor_module ? [createStepLine(preprocessor_module)] : []),
    ...modules.map(createStepLine),
    ...(failure_module ? [createStepLine(failure_module)] : []),
  ];
}

function createStepLine(module: FlowModule): TreeLine {
  const inner = listBodies(module).map(({ modules }) => modules.map(createStepLine));
  const names = listBranchNames(module);
  return {
    text: [`${module.id}  ${formatStepTitle(module)}`, ...listRemarks(module)].join(", "),
    inner: names.length > 0 ? names.map((text, index) => ({ text, inner: inner[index]! })) : inner.flat(),
  };
}

/** Lists the names of a step's branches in the order of its bodies; empty if it has none. */
export function listBranchNames({ value }: FlowModule): string[] {
  if (value.type === "branchone") {
    return [...value.branches.map(({ expr, summary }) => `if ${summary || shortenText(expr)}`), "otherwise"];
  }
  if (value.type !== "branchall") return [];
  return value.branches.map(({ summary }, index) => summary || `branch ${index + 1}`);
}

/** Formats the step's summary with its kind, or its content if it has no summary. */
export function formatStepTitle({ summary, value }: FlowModule): string {
  const kind = formatKind(value);
  return summary ? `${shortenText(summary)} (${kind})` : kind;
}

function formatKind(value: FlowModule["value"]): string {
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
      return `cannot run: ${shortenText(value.problem)}`;
  }
}

function listRemarks(module: FlowModule): string[] {
  const { skip_if, stop_after_if, stop_after_all_iters_if, sleep } = module;
  const remarks: [present: unknown, text: () => string][] = [
    [module.mock?.enabled, () => "mocked"],
    [skip_if, () => `skipped if ${shortenText(skip_if!.expr)}`],
    [module.retry, () => "with retries"],
    [module.continue_on_error, () => "failing does no harm"],
    [stop_after_if, () => `stops if ${shortenText(stop_after_if!.expr)}`],
    [stop_after_all_iters_if, () => `stops the flow if ${shortenText(stop_after_all_iters_if!.expr)}`],
    [module.suspend, () => "then waits for approval"],
    [sleep, () => `then sleeps ${transformText(sleep!)} s`],
  ];
  return remarks.filter(([present]) => present).map(([, text]) => text());
}

function transformText(transform: InputTransform): string {
  if (transform.type === "refused") return shortenText(transform.problem);
  return shortenText(
    transform.type === "javascript" ? transform.expr : (JSON.stringify(transform.value) ?? ""),
  );
}

const MAX_TEXT_CHARS = 60;

/** Shortens a text to part of a line. */
function shortenText(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > MAX_TEXT_CHARS ? `${line.slice(0, MAX_TEXT_CHARS - 1)}…` : line;
}

/** Draws nested lines as a tree. */
export function drawTree(lines: readonly TreeLine[], before = ""): string {
  return lines
    .map(({ text, inner }, index) => {
      const isLast = index === lines.length - 1;
      const own = `${before}${isLast ? "└─ " : "├─ "}${text}\n`;
      return own + drawTree(inner, `${before}${isLast ? "   " : "│  "}`);
    })
    .join("");
}
