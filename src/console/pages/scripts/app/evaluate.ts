/**
 * Evaluates simple expressions of apps: names, fields, literals, operators and templates. Calls are not evaluated,
 * because the page must not run code from an app.
 */

import type { SyntaxNode } from "@lezer/common";
import { parser } from "@lezer/javascript";
import { isRecord } from "../../../api/json.ts";

export type Scope = Record<string, unknown>;

/** Thrown for an expression that this page does not evaluate. */
export class NotEvaluated extends Error {}

const programs = parser.configure({ top: "SingleExpression" });

/** Evaluates a simple expression against the values in scope. @throws NotEvaluated */
export function evaluateExpression(expression: string, scope: Scope): unknown {
  const tree = programs.parse(expression.replace(/;\s*$/, ""));
  const node = tree.topNode.firstChild;
  let isWhole = true;
  tree.iterate({
    enter: ({ type }) => {
      if (type.isError) isWhole = false;
    },
  });
  if (!node || node.nextSibling || !isWhole) throw new NotEvaluated(expression);
  const at = (each: SyntaxNode): string => expression.slice(each.from, each.to);
  const refuse = (): never => {
    throw new NotEvaluated(expression);
  };
  const value = (each: SyntaxNode | null): unknown => {
    switch (each?.name) {
      case "ParenthesizedExpression":
        return value(each.firstChild!.nextSibling);
      case "VariableName":
        return at(each) === "undefined" ? undefined : own(scope, at(each));
      case "Number":
        return Number(at(each));
      case "BooleanLiteral":
        return at(each) === "true";
      case "null":
        return null;
      case "String":
        return unquote(at(each));
      case "TemplateString":
        return fillTemplate(at(each).slice(1, -1), scope);
      case "MemberExpression": {
        const object = value(each.firstChild);
        const last = each.lastChild!;
        return own(object, last.name === "]" ? String(value(last.prevSibling)) : at(last));
      }
      case "ArrayExpression": {
        const items: unknown[] = [];
        for (let item = each.firstChild?.nextSibling; item && item.name !== "]"; item = item.nextSibling) {
          if (item.name !== ",") items.push(value(item));
        }
        return items;
      }
      case "ConditionalExpression": {
        const [condition, first, second] = operandsOf(each);
        return value(condition!) ? value(first!) : value(second!);
      }
      case "UnaryExpression": {
        const operand = value(each.lastChild);
        const sign = at(each.firstChild!);
        return sign === "!" ? !operand : sign === "-" ? -Number(operand) : refuse();
      }
      case "BinaryExpression": {
        const [left, right] = operandsOf(each);
        const sign = at(left!.nextSibling!);
        return combine(sign, value(left!), () => value(right!)) ?? (KNOWN.has(sign) ? undefined : refuse());
      }
      default:
        return refuse();
    }
  };
  return value(node);
}

const OPERATORS: ReadonlySet<string> = new Set(["ArithOp", "CompareOp", "LogicOp", "BitOp"]);
const operandsOf = (node: SyntaxNode): SyntaxNode[] => {
  const found: SyntaxNode[] = [];
  for (let each = node.firstChild; each; each = each.nextSibling) {
    if (!OPERATORS.has(each.name) && each.name !== "?" && each.name !== ":") found.push(each);
  }
  return found;
};

const KNOWN: ReadonlySet<string> = new Set([
  "??",
  "||",
  "&&",
  "===",
  "==",
  "!==",
  "!=",
  "+",
  "-",
  "*",
  "/",
  ">",
  "<",
  ">=",
  "<=",
]);

function combine(sign: string, left: unknown, right: () => unknown): unknown {
  switch (sign) {
    case "??":
      return left ?? right();
    case "||":
      return left || right();
    case "&&":
      return left && right();
    case "===":
    case "==":
      return left === right();
    case "!==":
    case "!=":
      return left !== right();
    case "+": {
      const other = right();
      return typeof left === "number" && typeof other === "number"
        ? left + other
        : `${show(left)}${show(other)}`;
    }
    case "-":
      return Number(left) - Number(right());
    case "*":
      return Number(left) * Number(right());
    case "/":
      return Number(left) / Number(right());
    case ">":
      return Number(left) > Number(right());
    case "<":
      return Number(left) < Number(right());
    case ">=":
      return Number(left) >= Number(right());
    case "<=":
      return Number(left) <= Number(right());
    default:
      return undefined;
  }
}

/** Returns an object's own field; undefined otherwise. */
function own(object: unknown, name: string): unknown {
  if (Array.isArray(object) && name === "length") return object.length;
  return (isRecord(object) || Array.isArray(object)) && Object.hasOwn(object, name)
    ? (object as Scope)[name]
    : undefined;
}

function unquote(text: string): string {
  const inner = text.slice(1, -1);
  if (!inner.includes("\\")) return inner;
  if (text[0] !== '"') throw new NotEvaluated(text);
  return JSON.parse(text) as string;
}

const show = (value: unknown): string =>
  value === undefined || value === null
    ? ""
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);

/** Replaces each `${…}` in a text. @throws NotEvaluated */
export function fillTemplate(template: string, scope: Scope): string {
  return template.replace(/\$\{([^{}]*)\}/g, (_all, expression: string) =>
    show(evaluateExpression(expression.trim(), scope)),
  );
}

/** Returns the value of a component's input or option. @throws NotEvaluated */
export function computeInput(input: unknown, scope: Scope): unknown {
  if (!isRecord(input)) return undefined;
  switch (input.type) {
    case "static":
      return input.value;
    case "connected": {
      const { componentId, path } = isRecord(input.connection) ? input.connection : {};
      if (typeof componentId !== "string") return undefined;
      const names = [
        componentId,
        ...String(path ?? "")
          .split(".")
          .filter(Boolean),
      ];
      return names.reduce<unknown>((found, name) => own(found, name), scope);
    }
    case "eval":
    case "evalv2":
      return evaluateExpression(String(input.expr ?? ""), scope);
    case "template":
    case "templatev2":
      return fillTemplate(String(input.eval ?? ""), scope);
    default:
      return undefined;
  }
}
