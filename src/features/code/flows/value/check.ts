/** Finds all problems of a flow while it is being edited, each with its position. */
import { BadRequest } from "../../../../lib/errors.ts";
import { isJsonObject } from "../../../../lib/json/json.ts";
import { describeIssue } from "../../../../lib/validation-messages.ts";
import * as z from "../../../../lib/zod/z.ts";
import { KnownFlowValue } from "./open-flow.ts";
import { findUnknownSteps } from "./unknown-steps.ts";
import { validateFlow } from "./validate.ts";
import type { StoredFlow } from "./walk-steps.ts";

export interface FlowProblem {
  /** Keys and indexes from the flow's value down, such as `["modules", 0, "value", "type"]`. */
  path: (string | number)[];
  message: string;
  /** Whether the flow is rejected; otherwise it can be stored, but a run that reaches the step fails. */
  is_refused: boolean;
}

const MAX_PROBLEMS = 50;

export function findProblems(value: unknown): FlowProblem[] {
  const problems: FlowProblem[] = [];
  const { error } = KnownFlowValue.safeParse(value);
  for (const issue of error?.issues ?? []) {
    const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
    if (isOptionalAndMissing(value, path)) continue;
    problems.push({ path, message: describeIssue(issue), is_refused: false });
  }
  const refused = findRefusal(value);
  if (refused) return [refused, ...problems].slice(0, MAX_PROBLEMS);
  const flow = value as StoredFlow;
  for (const { path, step, unknown } of findUnknownSteps(flow, MAX_PROBLEMS)) {
    const message = `step ${step} refers to results.${unknown}, and the flow has no step ${unknown}`;
    problems.push({ path, message, is_refused: false });
  }
  return problems.slice(0, MAX_PROBLEMS);
}

/** Fields that OpenFlow requires, without which a flow runs all the same. */
const OPTIONAL_FIELDS = new Set<string | number | undefined>([
  "id",
  "input_transforms",
  "skip_failures",
  "default",
]);

function isOptionalAndMissing(value: unknown, path: (string | number)[]): boolean {
  if (!OPTIONAL_FIELDS.has(path.at(-1))) return false;
  let at = value;
  for (const key of path) at = (at as Record<string | number, unknown> | undefined)?.[key];
  return at === undefined;
}

/** Returns why the flow cannot be stored; undefined if it can. */
function findRefusal(value: unknown): FlowProblem | undefined {
  if (!isJsonObject(value) || !Array.isArray(value.modules)) {
    return { path: [], message: "must be an object with `modules`, an array of steps", is_refused: true };
  }
  try {
    validateFlow({ ...value, modules: value.modules });
    return undefined;
  } catch (cause) {
    if (!(cause instanceof BadRequest)) throw cause;
    const place = /^`value\.([^`]+)`/.exec(cause.message)?.[1];
    const path = place?.split(".").map((key) => (/^\d+$/.test(key) ? Number(key) : key)) ?? [];
    return { path, message: cause.message, is_refused: true };
  }
}

/** Returns the JSON Schema of a flow's value, for completion in editors. */
export const describeFlowValue = (): Record<string, unknown> =>
  z.toJSONSchema(KnownFlowValue, { io: "input", unrepresentable: "any" }) as Record<string, unknown>;
