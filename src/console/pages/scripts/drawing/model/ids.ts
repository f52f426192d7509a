/** Ids of steps: letters, the first that is free, as existing clients give them. */
import { type Fields, isRecord } from "../../../../api/json.ts";
import type { FlowDocument } from "./document.ts";
import { mapExpressions, renameInExpression } from "./expressions.ts";
import { idOf, listSteps, mapLists } from "./steps.ts";

/** Of steps and boxes that are no steps of a list. */
export const RESERVED = ["failure", "preprocessor", "Input", "Result", "Trigger"];

const formatLetters = (n: number): string => {
  const last = String.fromCharCode(97 + (n % 26));
  return n < 26 ? last : formatLetters(Math.floor(n / 26) - 1) + last;
};

/** Returns a function that gives an id that no step has, and never the same twice. */
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

/** Gives steps that are added to a flow ids that are free in it, and rewrites what they say about each other. */
export function withFreeIds(flow: FlowDocument, steps: Fields[]): Fields[] {
  const createId = createIdGenerator(flow);
  const taken = new Set(listSteps(flow).map(({ id }) => id));
  const renamed = new Map<string, string>();
  const added: FlowDocument = { path: "", value: { modules: steps } };
  const rename = (step: unknown): unknown => {
    if (!isRecord(step)) return step;
    const fields = step;
    const id = idOf(fields);
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
  const { value } = mapLists(added, (list) => list.map(rename));
  if (renamed.size === 0) return value.modules as Fields[];
  return mapExpressions(value.modules as Fields[], (expression) => renameInExpression(expression, renamed));
}
