/** Renders a JSON Schema (2020-12) as HTML in the notation of TypeScript types. */
import { escapeHtml } from "../../../lib/text/html.ts";
import type { JsonSchema } from "./description.ts";

const REFERENCE = "#/components/schemas/";

/**
 * Renders a schema; names of schemas link to `#schema-<name>`.
 * @param indent nesting depth of object lines
 */
export function renderSchema(schema: JsonSchema, indent = 0): string {
  if (typeof schema.$ref === "string") return link(schema.$ref);
  if (schema.const !== undefined) return literal(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map(literal).join(" | ");
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (choices) return union(choices.map((choice) => renderSchema(choice, indent)));
  if (Array.isArray(schema.allOf)) {
    return schema.allOf.map((part: JsonSchema) => renderSchema(part, indent)).join(" &amp; ");
  }
  if (Array.isArray(schema.type)) {
    return union(schema.type.map((type: string) => renderSchema({ ...schema, type }, indent)));
  }
  return renderType(schema, indent);
}

function renderType(schema: JsonSchema, indent: number): string {
  switch (schema.type) {
    case "array":
      return `Array&lt;${renderSchema((schema.items as JsonSchema | undefined) ?? {}, indent)}&gt;`;
    case "object":
      return renderObject(schema, indent);
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

function renderObject(schema: JsonSchema, indent: number): string {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  const more = schema.additionalProperties;
  const lines = Object.entries(properties).map(([name, property]) => {
    const mark = required.includes(name) ? "" : "?";
    return `${escapeHtml(name)}${mark}: ${renderSchema(property, indent + 1)}`;
  });
  if (typeof more === "object" && more !== null) {
    const value = renderSchema(more as JsonSchema, indent + 1);
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

/** Renders numeric limits, except those of the number type itself. */
function range({ minimum, maximum }: JsonSchema): string {
  const floor = typeof minimum === "number" && minimum > Number.MIN_SAFE_INTEGER ? `${minimum}` : "";
  const limit = typeof maximum === "number" && maximum < Number.MAX_SAFE_INTEGER ? `${maximum}` : "";
  return floor || limit ? ` (${floor}…${limit})` : "";
}
