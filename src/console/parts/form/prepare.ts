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
  resource: "ResourceWidget",
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

function fieldOf(given: unknown): PreparedForm {
  const schema: Schema = isRecord(given) ? { ...given } : {};
  const { type, format, contentEncoding } = schema;
  const ui: UiSchema = {};
  if (typeof format === "string" && (format.startsWith("resource-") || format.startsWith("jsonschema-"))) {
    return {
      schema: { ...schema, type: ["string", "object", "null"] } as RJSFSchema,
      ui: { "ui:field": "JsonField", "ui:widget": WIDGETS.resource, "ui:options": { format } },
    };
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
    return { schema: { ...schema } as RJSFSchema, ui: { "ui:field": "JsonField" } };
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
  for (const name of names) {
    const field = fieldOf((schema.properties as Schema)[name]);
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
