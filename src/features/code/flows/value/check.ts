/** Finds all problems of a flow while it is being edited, each with its position. */
import { z } from "zod";
import { BadRequest } from "../../../../lib/errors.ts";
import { isJsonObject } from "../../../../lib/json/json.ts";
import { KnownFlowValue } from "./open-flow.ts";
import { validateFlow } from "./validate.ts";

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
  for (const { path, message } of error?.issues ?? []) {
    problems.push({
      path: path.map((key) => (typeof key === "symbol" ? String(key) : key)),
      message,
      is_refused: false,
    });
  }
  const refused = findRefusal(value);
  return (refused ? [refused, ...problems] : problems).slice(0, MAX_PROBLEMS);
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
