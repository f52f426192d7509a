/** Finds what is wrong with a flow while it is written: all of it, each with its place. */
import { z } from "zod";
import { BadRequest } from "../../../../lib/errors.ts";
import { isJsonObject } from "../../../../lib/json/json.ts";
import { KnownFlowValue } from "./open-flow.ts";
import { validateFlow } from "./validate.ts";

export interface FlowProblem {
  /** Keys and positions from the flow's value down, such as `["modules", 0, "value", "type"]`. */
  path: (string | number)[];
  message: string;
  /** Whether it is refused; otherwise it is stored, and the run fails that reaches the step. */
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

/** Returns why the flow cannot be stored, if so. */
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

/** JSON Schema of a flow's value, for editors that complete what is written. */
export const describeFlowValue = (): Record<string, unknown> =>
  z.toJSONSchema(KnownFlowValue, { io: "input", unrepresentable: "any" }) as Record<string, unknown>;
