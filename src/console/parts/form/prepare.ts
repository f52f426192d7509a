/** Converts the schema of a script or flow to a schema and UI schema of the form library. */
import type { RJSFSchema, UiSchema } from "@rjsf/utils";
import { isRecord } from "../../api/json.ts";

type Schema = Record<string, unknown>;

export interface PreparedForm {
  schema: RJSFSchema;
  ui: UiSchema;
}

/** Names of custom widgets. */
export const WIDGETS = {
  file: "FileWidget",
  moment: "MomentWidget",
  variable: "VariableWidget",
} as const;

/** Whether values are passwords, which are masked, and kept nowhere in the browser. */
export const isPassword = (schema: unknown): boolean =>
  isRecord(schema) && (schema.password === true || schema.format === "password");

function namesInOrder(schema: Schema): string[] {
  const names = Object.keys(isRecord(schema.properties) ? schema.properties : {});
  const order = Array.isArray(schema.order)
    ? schema.order.filter((name) => names.includes(name as string))
    : [];
  return [...new Set([...(order as string[]), ...names])];
}

const JSON_FIELD: UiSchema = { "ui:field": "JsonField" };

/** Type of the resource that a value is; `wmill` marks lists by the format of their items, and items by a type. */
export function resourceTypeOf({ type, format, resourceType }: Schema): string | undefined {
  if (type === "resource" && typeof resourceType === "string") return resourceType;
  const isOne = typeof format === "string" && format.startsWith("resource-") && type !== "array";
  return isOne ? format.slice("resource-".length) : undefined;
}

function resourceField(schema: Schema, resource: string): PreparedForm {
  const fields = isRecord(schema.properties) ? objectOf(schema) : { schema, ui: {} };
  return {
    // The path of a resource, or its value.
    schema: { ...fields.schema, type: ["string", "object", "null"] } as RJSFSchema,
    ui: { ...fields.ui, "ui:field": "ResourceField", "ui:options": { resource } },
  };
}

function fieldOf(given: unknown): PreparedForm {
  const schema: Schema = isRecord(given) ? { ...given } : {};
  const { type, format, contentEncoding } = schema;
  const ui: UiSchema = {};
  const resource = resourceTypeOf(schema);
  if (resource !== undefined) return resourceField(schema, resource);
  if (typeof format === "string" && format.startsWith("jsonschema-")) {
    return { schema: { ...schema, type: ["string", "object", "null"] } as RJSFSchema, ui: JSON_FIELD };
  }
  if (contentEncoding === "base64") {
    delete schema.format;
    return { schema: schema as RJSFSchema, ui: { "ui:widget": WIDGETS.file } };
  }
  if (format === "date-time") return { schema: schema as RJSFSchema, ui: { "ui:widget": WIDGETS.moment } };
  if (isPassword(schema)) return { schema: schema as RJSFSchema, ui: { "ui:widget": WIDGETS.variable } };
  if (type === "string" && typeof schema.default === "string" && schema.default.includes("\n")) {
    return { schema: schema as RJSFSchema, ui: { "ui:widget": "textarea" } };
  }
  // An empty enum would render a select without options.
  if (Array.isArray(schema.enum) && schema.enum.length === 0) delete schema.enum;
  const known =
    type !== undefined ||
    schema.enum ||
    schema.oneOf ||
    schema.anyOf ||
    schema.allOf ||
    schema.const !== undefined;
  const isOpenObject = type === "object" && !isRecord(schema.properties) && !schema.oneOf && !schema.anyOf;
  const isOpenList = type === "array" && (!isRecord(schema.items) || Object.keys(schema.items).length === 0);
  if (!known || isOpenObject || isOpenList || Array.isArray(type)) {
    return { schema: { ...schema } as RJSFSchema, ui: JSON_FIELD };
  }
  if (type === "object") return objectOf(schema);
  const isChosen = schema.enum || schema.oneOf || schema.anyOf || schema.const !== undefined;
  if (type === "string" && format === undefined && !isChosen) {
    return { schema: schema as RJSFSchema, ui: { "ui:widget": WIDGETS.variable } };
  }
  if (type === "array") {
    const items = fieldOf(schema.items);
    return { schema: { ...schema, items: items.schema } as RJSFSchema, ui: { items: items.ui } };
  }
  return { schema: schema as RJSFSchema, ui };
}

function objectOf(schema: Schema): PreparedForm {
  const ui: UiSchema = {};
  const properties: Record<string, RJSFSchema> = {};
  const names = namesInOrder(schema);
  const isRequired = (name: string) => Array.isArray(schema.required) && schema.required.includes(name);
  for (const name of names) {
    const field = fieldOf((schema.properties as Schema)[name]);
    // An empty list is a value, but the form has no other way to enter it.
    if (field.schema.type === "array" && isRequired(name)) field.schema.default ??= [];
    // The library renders nothing for an empty schema.
    properties[name] = Object.keys(field.schema).length === 0 ? { title: name } : field.schema;
    ui[name] = field.ui;
  }
  if (names.length > 0) ui["ui:order"] = [...names, "*"];
  return { schema: { ...schema, properties } as RJSFSchema, ui };
}

/** Prepares the schema of an object; other schemas yield no fields. */
export function prepareForm(given: unknown): PreparedForm {
  const schema: Schema = isRecord(given) ? { ...given } : {};
  delete schema.$schema;
  return objectOf({ ...schema, type: "object" });
}

export const hasFields = ({ schema }: PreparedForm): boolean =>
  Object.keys(schema.properties ?? {}).length > 0;
