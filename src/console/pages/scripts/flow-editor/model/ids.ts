/** Creates ids of steps: the first unused letters, as existing clients do. */
import { type Fields, isRecord } from "../../../../api/json.ts";
import type { FlowDocument } from "./document.ts";
import { mapExpressions, renameInExpression } from "./expressions.ts";
import { getStepId, listSteps, mapStepLists } from "./steps.ts";

/** Ids of the flow's special steps and nodes, which are not in a list. */
export const RESERVED = ["failure", "preprocessor", "Input", "Result", "Trigger"];

const formatLetters = (n: number): string => {
  const last = String.fromCharCode(97 + (n % 26));
  return n < 26 ? last : formatLetters(Math.floor(n / 26) - 1) + last;
};

/** Returns a function that creates unused step ids, each once. */
export function createIdGenerator(flow: FlowDocument): () => string {
  const taken = new Set([...RESERVED, ...listSteps(flow).map(({ id }) => id)]);
  let next = 0;
  return () => {
    for (;;) {
      const id = formatLetters(next++);
      if (id in {} || taken.has(id)) continue;
      taken.add(id);
      return id;
    }
  };
}

/** Replaces the ids of inserted steps by unused ones, and updates their references to each other. */
export function assignFreeIds(flow: FlowDocument, steps: Fields[]): Fields[] {
  const createId = createIdGenerator(flow);
  const taken = new Set(listSteps(flow).map(({ id }) => id));
  const renamed = new Map<string, string>();
  const added: FlowDocument = { path: "", value: { modules: steps } };
  const rename = (step: unknown): unknown => {
    if (!isRecord(step)) return step;
    const fields = step;
    const id = getStepId(fields);
    if (id !== "" && !taken.has(id) && !RESERVED.includes(id)) {
      taken.add(id);
      return step;
    }
    let next = createId();
    while (taken.has(next)) next = createId();
    taken.add(next);
    if (id !== "" && !renamed.has(id)) renamed.set(id, next);
    return { ...fields, id: next };
  };
  const { value } = mapStepLists(added, (list) => list.map(rename));
  if (renamed.size === 0) return value.modules as Fields[];
  return mapExpressions(value.modules as Fields[], (expression) => renameInExpression(expression, renamed));
}
