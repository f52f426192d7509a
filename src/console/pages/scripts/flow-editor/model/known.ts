/** Names that an expression at a position can use. */
import { type Fields, getAt, isRecord, writeJson } from "../../../../api/json.ts";
import type { FlowDocument } from "./document.ts";
import { formatResultExpression } from "./expressions.ts";
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
export function listKnownNames(
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
    known.push({ expression: "error", about: "Error of the failed step" });
  const index = path.at(-1);
  const before = steps.find(
    (each) =>
      typeof index === "number" && each.path.join("/") === [...path.slice(0, -1), index - 1].join("/"),
  );
  if (before?.step.suspend || step.suspend) {
    known.push({ expression: "resume", about: "Input of the last approver" });
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
      expression: formatResultExpression(id),
      about: summary,
      step: id,
      ...(results.has(id) ? { value: results.get(id), hasValue: true } : {}),
    });
  }
  const previous = placed && findPrevious(steps, placed);
  const before = known.find(({ step }) => step !== undefined && step === previous?.id);
  if (!before) return known;
  return [{ ...before, expression: "previous_result", about: `Result of step ${before.step}` }, ...known];
}

/** Returns the preceding step of the same list; for the first of a list, the step before the enclosing one. */
function findPrevious(steps: PlacedStep[], placed: PlacedStep): PlacedStep | undefined {
  const index = placed.path.at(-1);
  if (typeof index !== "number") return undefined;
  if (index > 0) {
    const before = [...placed.path.slice(0, -1), index - 1].join("/");
    return steps.find((each) => each.path.join("/") === before);
  }
  const outer = steps.find((each) => each.key === placed.around.at(-1));
  return outer && findPrevious(steps, outer);
}

/** Maximum number of fields or items listed per value. */
const MAX_FIELDS = 50;

const isPlain = (name: string): boolean => /^[A-Za-z_$][\w$]*$/.test(name);

/** Lists the fields or items of a name's value, with their expressions. @param depth number of levels, at least 1 */
export function listFields({ expression, value, hasValue, about }: KnownName, depth = 1): KnownName[] {
  if (!hasValue || typeof value !== "object" || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value)
    .slice(0, MAX_FIELDS)
    .flatMap(([field, inner]) => {
      const access = isList ? `[${field}]` : isPlain(field) ? `.${field}` : `[${JSON.stringify(field)}]`;
      const name = { expression: expression + access, about, value: inner as unknown, hasValue: true };
      return depth > 1 ? [name, ...listFields(name, depth - 1)] : [name];
    });
}

const SHOWN_CHARACTERS = 160;

/** Formats a value as text of one line. */
export function formatOneLine(value: unknown): string {
  const text = value === undefined ? "undefined" : writeJson(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
