/** The form of an approval, from the JSON Schema in `resume_form`: its fields, and the values that a browser sends. */
import { InvalidInput } from "../../../lib/errors.ts";
import { isJsonObject, parseJson } from "../../../lib/json/json.ts";

export interface FormField {
  name: string;
  kind: "text" | "number" | "boolean" | "choice" | "json";
  label: string;
  description: string | undefined;
  required: boolean;
  /** Whether only integers are accepted. */
  whole: boolean;
  options: unknown[];
  default: unknown;
}

type JsonFields = Record<string, unknown>;

/** Defaults and choices of the form's fields, taken from the step's result. */
export interface FormHints {
  default_args?: unknown;
  enums?: unknown;
}

/** Creates the fields of a form. @param resume_form `{schema}`; other values have no fields */
export function createFormFields(resume_form: unknown, hints: FormHints): FormField[] {
  const schema = toObject(toObject(resume_form).schema);
  const properties = toObject(schema.properties);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const order = Array.isArray(schema.order) ? schema.order : [];
  const names = [...order.filter((name) => Object.hasOwn(properties, name)), ...Object.keys(properties)];
  return [...new Set(names)].map((name) => {
    const property = toObject(properties[name]);
    const options = toObject(hints.enums)[name] ?? property.enum;
    const given = toObject(hints.default_args)[name] ?? property.default;
    return {
      name,
      kind: Array.isArray(options) ? "choice" : kindOf(property.type),
      label: textOf(property.title) ?? name,
      description: textOf(property.description),
      required: required.includes(name),
      whole: property.type === "integer",
      options: Array.isArray(options) ? options : [],
      default: given,
    };
  });
}

function kindOf(type: unknown): FormField["kind"] {
  if (type === "number" || type === "integer") return "number";
  if (type === "boolean") return "boolean";
  return type === "object" || type === "array" ? "json" : "text";
}

/** Returns the field's name in the HTML form. */
export function formatInputName({ name }: FormField): string {
  return `field ${name}`;
}

/** Parses the submitted values. @throws InvalidInput, naming the field */
export function parseFormValues(fields: readonly FormField[], form: URLSearchParams): JsonFields {
  const values: [string, unknown][] = [];
  for (const field of fields) {
    const value = parseFieldValue(field, form.get(formatInputName(field)));
    if (value !== undefined) values.push([field.name, value]);
    else if (field.required) throw new InvalidInput(`${field.label}: must be filled in`);
  }
  return Object.fromEntries(values);
}

/** Parses the text of a form field to the JSON value of its type. @returns undefined for an empty field */
function parseFieldValue(field: FormField, text: string | null): unknown {
  // Browsers do not send an unchecked box.
  if (field.kind === "boolean") return text !== null;
  if (text === null || text === "") return undefined;
  switch (field.kind) {
    case "text":
      return text;
    case "number":
      return numberOf(field, text);
    case "choice":
      return choiceOf(field, text);
    case "json":
      return jsonOf(field, text);
  }
}

function numberOf({ label, whole }: FormField, text: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && (!whole || Number.isInteger(number))) return number;
  throw new InvalidInput(`${label}: must be a ${whole ? "whole " : ""}number`);
}

/** Parses a choice. Its index is sent, because choices need not be text. */
function choiceOf({ label, options }: FormField, text: string): unknown {
  const index = Number(text);
  if (Number.isInteger(index) && index >= 0 && index < options.length) return options[index];
  throw new InvalidInput(`${label}: must be one of the choices`);
}

function jsonOf({ label }: FormField, text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new InvalidInput(`${label}: must be JSON: ${(cause as Error).message}`);
  }
}

export function toObject(value: unknown): JsonFields {
  return isJsonObject(value) ? value : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
