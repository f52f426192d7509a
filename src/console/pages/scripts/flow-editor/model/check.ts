/** Finds problems of a flow without running it. */
import { isRecord } from "../../../../api/json.ts";
import { listBodies } from "../../../../parts/flow/tree.ts";
import type { FlowDocument } from "./document.ts";
import { collectMentionedSteps } from "./expressions.ts";
import { listSteps, type PlacedStep } from "./steps.ts";

export interface FlowProblem {
  /** Key of the step. */
  key: string;
  message: string;
}

const MAX_ID_CHARS = 100;

/** Lists problems that prevent the deployment, or would make a run fail. */
export function listProblems(flow: FlowDocument): FlowProblem[] {
  const steps = listSteps(flow);
  const ids = new Set(steps.map(({ id }) => id));
  const seen = new Set<string>();
  const problems: FlowProblem[] = [];
  for (const placed of steps) {
    const add = (message: string) => problems.push({ key: placed.key, message });
    if (placed.id !== "" && seen.has(placed.id)) add(`Another step has the id ${placed.id}.`);
    seen.add(placed.id);
    if (placed.id.length > MAX_ID_CHARS) add(`Its id is longer than ${MAX_ID_CHARS} characters.`);
    for (const message of listOwn(placed)) add(message);
    for (const id of collectMentionedSteps(placed.step))
      if (!ids.has(id)) add(`An expression refers to the step ${id}, which does not exist.`);
  }
  return problems;
}

function listOwn({ step }: PlacedStep): string[] {
  const value = isRecord(step.value) ? step.value : {};
  if ((value.type === "script" || value.type === "flow") && !value.path)
    return [`Choose the ${value.type} that it runs.`];
  if (value.type === "rawscript" && String(value.content ?? "").trim() === "") return ["It has no code."];
  if (value.type === "forloopflow" && !isRecord(value.iterator)) return ["Enter the list to loop over."];
  const isEmpty =
    (value.type === "forloopflow" || value.type === "whileloopflow") &&
    listBodies(step).length === 1 &&
    Array.isArray(value.modules) &&
    value.modules.length === 0;
  return isEmpty ? ["It has no steps."] : [];
}
