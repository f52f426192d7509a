/** Problems of a flow in YAML, with their lines. */
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import type { Operations } from "../../../../api/interface.d.ts";
import { toNumbers } from "../../../../api/yaml.ts";

export interface TextProblem {
  message: string;
  /** Offsets in the text. */
  from: number;
  to: number;
  /** Whether it prevents the deployment; otherwise a run that reaches the step fails. */
  isRefused: boolean;
  line: number;
}

export interface FlowText {
  summary: string;
  description: string;
  value: unknown;
  schema: Record<string, unknown> | undefined;
}

const FIELDS = ["summary", "description", "value", "schema"];

type Found = Operations["POST /w/{workspace}/flows/check"]["answer"]["problems"][number];

/**
 * Parses the YAML of a flow. @returns the flow or the reason of the failure, and a function that locates a problem of
 * the flow's value
 */
export function readFlow(text: string) {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, intAsBigInt: true });
  const at = (from: number, to: number, message: string, isRefused: boolean): TextProblem => ({
    message,
    from,
    to: Math.max(to, from),
    isRefused,
    line: lines.linePos(from).line,
  });
  const problems = document.errors.map(({ pos, message }) =>
    at(pos[0], pos[1], message.split("\n")[0] ?? message, true),
  );
  let fields: unknown;
  try {
    // Aliases without an anchor are detected only here.
    if (problems.length === 0) fields = toNumbers(document.toJS({ maxAliasCount: 100 }));
  } catch (error) {
    problems.push(at(0, 0, (error as Error).message, true));
  }
  if (problems.length === 0 && (typeof fields !== "object" || fields === null || Array.isArray(fields)))
    problems.push(at(0, 0, "A flow is written as summary, description, value and schema.", true));
  const names = problems.length === 0 ? Object.keys((fields ?? {}) as object) : [];
  for (const name of names) {
    if (FIELDS.includes(name)) continue;
    problems.push(
      at(startOf(document, name), 0, `${name} is not kept: a flow has ${FIELDS.join(", ")}.`, true),
    );
  }
  /** Returns the nearest existing node: a missing field is reported where it should be. */
  const place = ({ path, message, is_refused }: Found): TextProblem => {
    const keys = ["value", ...path];
    for (let length = keys.length; length > 0; length--) {
      const node = document.getIn(keys.slice(0, length), true);
      if (!isNode(node) || !node.range) continue;
      const [from, to] = node.range;
      return at(from, Math.min(to, endOfLine(text, from)), message, is_refused);
    }
    return at(0, endOfLine(text, 0), message, is_refused);
  };
  const { summary, description, value, schema } = (fields ?? {}) as Partial<FlowText>;
  const flow: FlowText = {
    summary: String(summary ?? ""),
    description: String(description ?? ""),
    value: value ?? null,
    schema: schema ?? undefined,
  };
  return { flow, problems, place };
}

/** Returns the offset of a field of the outermost object. */
function startOf({ contents }: Document, name: string): number {
  const pairs = isMap(contents) ? contents.items : [];
  const key = pairs.map((pair) => pair.key).find((each) => isScalar(each) && String(each.value) === name);
  return isScalar(key) ? (key.range?.[0] ?? 0) : 0;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}
