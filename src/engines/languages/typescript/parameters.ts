/** Parameters of `main` or `preprocessor`: bindings and schemas. */
import type { Node } from "@babel/types";
import type { Parameter, ParameterSchema } from "../types.ts";
import { readLiteral } from "./literals.ts";
import { isOptionalType, type TypeTable, typeToSchema } from "./schema.ts";

export interface ParameterContext {
  types: TypeTable;
  comments: string;
}

export function toParameters(params: Node[], context: ParameterContext): Parameter[] {
  const descriptions = parseDescriptions(context.comments);
  return params.map((node, index) => {
    const parameter = toParameter(node, index, params.length, context);
    const description = descriptions.get(parameter.name);
    if (description) parameter.schema = { ...parameter.schema, description };
    return parameter;
  });
}

function toParameter(node: Node, index: number, count: number, { types }: ParameterContext): Parameter {
  if (node.type === "RestElement") {
    const name = node.argument.type === "Identifier" ? node.argument.name : "rest";
    const annotation = typeOf(node) ?? typeOf(node.argument);
    const schema = annotation ? typeToSchema(annotation, types) : { type: "array", items: {} };
    return { name, kind: "rest", schema, optional: true };
  }
  if (node.type === "AssignmentPattern") {
    const target = toParameter(node.left, index, count, { types, comments: "" });
    const initial = readLiteral(node.right);
    if (initial === undefined) return { ...target, optional: true };
    const inferred = Object.keys(target.schema).length === 0 ? schemaOfValue(initial) : target.schema;
    return { ...target, schema: { ...inferred, default: initial }, optional: true };
  }
  if (node.type === "ObjectPattern") return toDestructuredParameter(node, index, count, types);
  if (node.type !== "Identifier")
    return { name: `arg${index + 1}`, kind: "named", schema: {}, optional: true };
  const annotation = typeOf(node);
  const schema = annotation ? typeToSchema(annotation, types) : {};
  return {
    name: node.name,
    kind: "named",
    schema,
    optional: node.optional === true || (annotation !== undefined && isOptionalType(annotation, types)),
    ...(schema.format === "date-time" ? { is_date: true } : {}),
  };
}

/**
 * Converts a destructured parameter. If it is the only one, as in `main({ a, b }: { a: string; b?: number })`, it takes
 * the whole arguments object.
 */
function toDestructuredParameter(
  node: Extract<Node, { type: "ObjectPattern" }>,
  index: number,
  count: number,
  types: TypeTable,
): Parameter {
  const annotation = typeOf(node);
  // What is taken apart here is no resource that could be chosen as a whole.
  const { format: _, ...schema }: ParameterSchema = annotation
    ? typeToSchema(annotation, types)
    : { type: "object", properties: {}, required: [] };
  const properties = { ...(schema.properties as Record<string, ParameterSchema> | undefined) };
  const required = new Set((schema.required as string[] | undefined) ?? []);
  for (const property of node.properties) {
    if (property.type !== "ObjectProperty" || property.key.type !== "Identifier") continue;
    const { name } = property.key;
    properties[name] ??= {};
    if (property.value.type === "AssignmentPattern") {
      required.delete(name);
      const initial = readLiteral(property.value.right);
      if (initial !== undefined) {
        const known = Object.keys(properties[name]!).length > 0 ? properties[name]! : schemaOfValue(initial);
        properties[name] = { ...known, default: initial };
      }
    } else if (!annotation) required.add(name);
  }
  const whole = { ...schema, type: "object", properties, required: [...required] };
  if (count === 1) return { name: "args", kind: "whole", schema: whole, optional: false };
  return { name: `arg${index + 1}`, kind: "named", schema: whole, optional: required.size === 0 };
}

function typeOf(node: Node): Node | undefined {
  const annotation = (node as { typeAnnotation?: Node | null }).typeAnnotation;
  return annotation?.type === "TSTypeAnnotation" ? annotation.typeAnnotation : undefined;
}

function schemaOfValue(value: unknown): ParameterSchema {
  if (value === null) return {};
  if (Array.isArray(value)) return { type: "array" };
  return { type: typeof value };
}

/** Parses `@param name - description` of a JSDoc comment. */
function parseDescriptions(comments: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of comments.split("\n")) {
    const at = line.indexOf("@param");
    if (at < 0) continue;
    const match = /^\s+\[?(\w+)/.exec(removeJsDocType(line.slice(at + "@param".length)));
    if (!match) continue;
    const [name, description] = [match[1]!, match.input.slice(match[0].length)];
    const text = description
      .replace(/^[^\]\s]*\]?/, "")
      .trim()
      .replace(/^-/, "")
      .trim();
    if (text) found.set(name, text);
  }
  return found;
}

/** Removes the type in braces before the name of a parameter. */
function removeJsDocType(text: string): string {
  const named = text.trimStart();
  return named.startsWith("{") && named.includes("}") ? ` ${named.slice(named.indexOf("}") + 1)}` : text;
}
