/** Names that an expression at a position can use. */
import { type Fields, getAt, isRecord } from "../../../../api/json.ts";
import type { FlowDocument } from "./document.ts";
import { resultOf } from "./expressions.ts";
import { isLoop, listSteps, type PlacedStep } from "./steps.ts";

export interface KnownName {
  /** As written in an expression. */
  expression: string;
  about: string;
  /** Value from an earlier run, if there is one. */
  value?: unknown;
  hasValue?: boolean;
  /** Id of the step with this result. */
  step?: string;
}

/** Results of an earlier run, by step id. */
export type Results = ReadonlyMap<string, unknown>;

/**
 * Lists the names that a step's expression can use: inputs of the flow, results of earlier steps, and values of the
 * surrounding loops and approvals.
 */
export function listKnown(
  flow: FlowDocument,
  key: string,
  run: { input?: Fields | undefined; results: Results },
): KnownName[] {
  const steps = listSteps(flow);
  const placed = steps.find((each) => each.key === key);
  return [
    ...listInputs(flow, run.input),
    ...(placed ? listAround(placed, steps) : []),
    ...listEarlier(steps, placed, run.results),
  ];
}

function listInputs(flow: FlowDocument, input: Fields | undefined): KnownName[] {
  const properties = getAt(flow, ["schema", "properties"]);
  const names = isRecord(properties) ? Object.entries(properties) : [];
  return names.map(([name, schema]) => ({
    expression: /^[A-Za-z_$][\w$]*$/.test(name)
      ? `flow_input.${name}`
      : `flow_input[${JSON.stringify(name)}]`,
    about: describe(schema),
    ...(input && Object.hasOwn(input, name) ? { value: input[name], hasValue: true } : {}),
  }));
}

const describe = (schema: unknown): string => {
  const { description, type } = isRecord(schema) ? schema : {};
  return ["Input", type, description].filter((each) => typeof each === "string" && each !== "").join(", ");
};

function listAround({ around, step, path }: PlacedStep, steps: PlacedStep[]): KnownName[] {
  const outer = around.map((key) => steps.find((each) => each.key === key)!);
  const known: KnownName[] = [];
  if (outer.some((each) => isLoop(each.step))) {
    known.push(
      { expression: "flow_input.iter.value", about: "Item of the loop" },
      { expression: "flow_input.iter.index", about: "Number of the iteration, from 0" },
    );
  }
  if (path.at(-1) === "failure_module")
    known.push({ expression: "error", about: "What the step failed with" });
  const index = path.at(-1);
  const before = steps.find(
    (each) =>
      typeof index === "number" && each.path.join("/") === [...path.slice(0, -1), index - 1].join("/"),
  );
  if (before?.step.suspend || step.suspend) {
    known.push({ expression: "resume", about: "What the last approver sent" });
    known.push({ expression: "approvers", about: "Who approved" });
  }
  return known;
}

function listEarlier(steps: PlacedStep[], placed: PlacedStep | undefined, results: Results): KnownName[] {
  const known: KnownName[] = [];
  for (const { id, key, step, path } of steps) {
    if (key === placed?.key) break;
    if (id === "" || path.at(-1) === "preprocessor_module" || placed?.around.includes(key)) continue;
    const summary =
      typeof step.summary === "string" && step.summary !== "" ? step.summary : "Result of an earlier step";
    known.unshift({
      expression: resultOf(id),
      about: summary,
      step: id,
      ...(results.has(id) ? { value: results.get(id), hasValue: true } : {}),
    });
  }
  const first = known[0];
  if (!first) return known;
  return [{ ...first, expression: "previous_result", about: `Result of step ${first.step}` }, ...known];
}
