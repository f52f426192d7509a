/** Parses and rewrites references to other steps in expressions. */
import { parser } from "@lezer/javascript";
import { type Fields, isRecord } from "../../../../api/json.ts";

/** A reference to a step's result: `results.a`, `results?.a`, `results["a"]`. */
export interface Mention {
  id: string;
  from: number;
  to: number;
  isQuoted: boolean;
}

const isPlainName = (id: string): boolean => /^[A-Za-z_$][\w$]*$/.test(id);

const SCRIPT = parser.configure({ top: "Script" });

/** Lists the steps whose results an expression reads; texts and comments are ignored. */
export function listMentionedSteps(expression: string): Mention[] {
  if (!expression.includes("results")) return [];
  const found: Mention[] = [];
  SCRIPT.parse(expression).iterate({
    enter: ({ type, node }) => {
      if (type.name !== "MemberExpression") return;
      const object = node.firstChild;
      if (object?.name !== "VariableName" || expression.slice(object.from, object.to) !== "results") return;
      const name = node.lastChild?.name === "]" ? node.lastChild.prevSibling : node.lastChild;
      if (name?.name === "PropertyName") {
        found.push({
          id: expression.slice(name.from, name.to),
          from: name.from,
          to: name.to,
          isQuoted: false,
        });
      } else if (name?.name === "String") {
        const id = expression.slice(name.from + 1, name.to - 1);
        if (!id.includes("\\")) found.push({ id, from: name.from, to: name.to, isQuoted: true });
      }
    },
  });
  return found;
}

/** Rewrites an expression after step ids were changed. */
export function renameInExpression(expression: string, ids: ReadonlyMap<string, string>): string {
  let result = expression;
  for (const { id, from, to, isQuoted } of listMentionedSteps(expression).reverse()) {
    const next = ids.get(id);
    if (next === undefined) continue;
    if (isQuoted) {
      result = `${result.slice(0, from)}${JSON.stringify(next)}${result.slice(to)}`;
    } else if (isPlainName(next)) {
      result = `${result.slice(0, from)}${next}${result.slice(to)}`;
    } else {
      const before = result.slice(0, from);
      const dot = /(\?)?\.\s*$/.exec(before);
      // A name with a comment in between is not rewritten; the editor reports that there is no such step.
      if (!dot) continue;
      const open = dot[1] ? "?.[" : "[";
      result = `${before.slice(0, dot.index)}${open}${JSON.stringify(next)}]${result.slice(to)}`;
    }
  }
  return result;
}

/** Returns the expression for the result of a step. */
export const formatResultExpression = (id: string): string =>
  isPlainName(id) ? `results.${id}` : `results[${JSON.stringify(id)}]`;

/** Fields of a flow that contain an expression as text, besides `expr`. */
const EXPRESSION_FIELDS: ReadonlySet<string> = new Set(["expr", "skip_expr", "early_return"]);

/** Fields whose values are data, whatever their inner fields are called. */
const DATA_FIELDS: ReadonlySet<string> = new Set(["return_value", "flow_env", "resume_form"]);

/** Applies a function to every expression in a value. Unchanged parts are shared with the old value. */
export function mapExpressions<T>(value: T, map: (expression: string) => string): T {
  if (Array.isArray(value)) {
    const mapped = value.map((each) => mapExpressions(each, map));
    return mapped.every((each, index) => each === value[index]) ? value : (mapped as T);
  }
  if (!isRecord(value)) return value;
  // A fixed value is data, whatever its fields are called.
  if (value.type === "static") return value;
  let result: Fields = value;
  for (const [name, each] of Object.entries(value)) {
    if (DATA_FIELDS.has(name)) continue;
    const next =
      typeof each === "string" && EXPRESSION_FIELDS.has(name) ? map(each) : mapExpressions(each, map);
    if (next !== each) result = { ...result, [name]: next };
  }
  return result as T;
}

/** Lists the expressions of a step, without those of nested steps. */
export function listExpressions(step: Fields): string[] {
  const found: string[] = [];
  const { value, ...options } = step;
  const own = isRecord(value) ? { ...value, modules: undefined, default: undefined } : {};
  const branches = isRecord(value) && Array.isArray(value.branches) ? value.branches : [];
  mapExpressions(
    [options, { ...own, branches: branches.map((each) => (isRecord(each) ? { expr: each.expr } : each)) }],
    (expression) => {
      found.push(expression);
      return expression;
    },
  );
  return found;
}

/** Cached by step object: steps are never changed in place. */
const mentionedBy = new WeakMap<Fields, ReadonlySet<string>>();

/** Returns the ids of the steps whose results the expressions of a step read. */
export function collectMentionedSteps(step: Fields): ReadonlySet<string> {
  const known = mentionedBy.get(step);
  if (known) return known;
  const ids = listExpressions(step).flatMap((expression) =>
    listMentionedSteps(expression).map(({ id }) => id),
  );
  const found = new Set(ids);
  mentionedBy.set(step, found);
  return found;
}
