/** JSON Schema (2020-12) as a person reads it: the notation of TypeScript's types, as HTML. */
import { escapeHtml } from "../../../lib/text/html.ts";
import type { Schema } from "./description.ts";

const REFERENCE = "#/components/schemas/";

/**
 * A schema in the notation of types, names of schemas as links to `#schema-<name>`.
 * @param indent how deep the lines of objects stand
 */
export function notation(schema: Schema, indent = 0): string {
  if (typeof schema.$ref === "string") return link(schema.$ref);
  if (schema.const !== undefined) return literal(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map(literal).join(" | ");
  const choices = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (choices) return union(choices.map((choice) => notation(choice, indent)));
  if (Array.isArray(schema.allOf)) {
    return schema.allOf.map((part: Schema) => notation(part, indent)).join(" &amp; ");
  }
  if (Array.isArray(schema.type)) {
    return union(schema.type.map((type: string) => notation({ ...schema, type }, indent)));
  }
  return typeNotation(schema, indent);
}

function typeNotation(schema: Schema, indent: number): string {
  switch (schema.type) {
    case "array":
      return `Array&lt;${notation((schema.items as Schema | undefined) ?? {}, indent)}&gt;`;
    case "object":
      return objectNotation(schema, indent);
    case "integer":
    case "number":
      return `${schema.type}${range(schema)}`;
    case "string":
      return typeof schema.format === "string" ? `string&lt;${escapeHtml(schema.format)}&gt;` : "string";
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "any";
  }
}

function objectNotation(schema: Schema, indent: number): string {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  const more = schema.additionalProperties;
  const lines = Object.entries(properties).map(([name, property]) => {
    const mark = required.includes(name) ? "" : "?";
    return `${escapeHtml(name)}${mark}: ${notation(property, indent + 1)}`;
  });
  if (typeof more === "object" && more !== null) {
    const value = notation(more as Schema, indent + 1);
    if (lines.length === 0) return `Record&lt;string, ${value}&gt;`;
    lines.push(`[name: string]: ${value}`);
  }
  if (lines.length === 0) return "object";
  const space = "  ".repeat(indent);
  return `{\n${lines.map((line) => `${space}  ${line}\n`).join("")}${space}}`;
}

function link(reference: string): string {
  const name = escapeHtml(reference.slice(REFERENCE.length));
  return `<a href="#schema-${name}">${name}</a>`;
}

const literal = (value: unknown) => escapeHtml(JSON.stringify(value));

const union = (parts: string[]) => [...new Set(parts)].join(" | ");

/** Limits that say something: those of the numbers a computer has are left out. */
function range({ minimum, maximum }: Schema): string {
  const least = typeof minimum === "number" && minimum > Number.MIN_SAFE_INTEGER ? `${minimum}` : "";
  const most = typeof maximum === "number" && maximum < Number.MAX_SAFE_INTEGER ? `${maximum}` : "";
  return least || most ? ` (${least}…${most})` : "";
}
