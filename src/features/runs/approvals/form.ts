/** The form of an approval, out of the JSON Schema in `resume_form`: its fields, and what a browser sends of them. */
import { InvalidInput } from "../../../lib/errors.ts";
import { isJsonObject, parseJson } from "../../../lib/json/json.ts";

export interface Field {
  name: string;
  kind: "text" | "number" | "boolean" | "choice" | "json";
  label: string;
  description: string | undefined;
  required: boolean;
  /** Whole numbers only. */
  whole: boolean;
  options: unknown[];
  default: unknown;
}

type Fields = Record<string, unknown>;

/** What a step may say about its form by what it returns. */
export interface Hints {
  default_args?: unknown;
  enums?: unknown;
}

/** @param resume_form `{schema}`; anything else has no fields */
export function fieldsOf(resume_form: unknown, hints: Hints): Field[] {
  const schema = objectOf(objectOf(resume_form).schema);
  const properties = objectOf(schema.properties);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const order = Array.isArray(schema.order) ? schema.order : [];
  const names = [...order.filter((name) => Object.hasOwn(properties, name)), ...Object.keys(properties)];
  return [...new Set(names)].map((name) => {
    const property = objectOf(properties[name]);
    const options = objectOf(hints.enums)[name] ?? property.enum;
    const given = objectOf(hints.default_args)[name] ?? property.default;
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

function kindOf(type: unknown): Field["kind"] {
  if (type === "number" || type === "integer") return "number";
  if (type === "boolean") return "boolean";
  return type === "object" || type === "array" ? "json" : "text";
}

/** The name a field has in the browser's form. */
export function inputName({ name }: Field): string {
  return `field ${name}`;
}

/** @throws InvalidInput, naming the field */
export function valuesOf(fields: readonly Field[], form: URLSearchParams): Fields {
  const values: [string, unknown][] = [];
  for (const field of fields) {
    const value = valueOfField(field, form.get(inputName(field)));
    if (value !== undefined) values.push([field.name, value]);
    else if (field.required) throw new InvalidInput(`${field.label}: must be filled in`);
  }
  return Object.fromEntries(values);
}

/** @returns undefined for what was left empty */
function valueOfField(field: Field, text: string | null): unknown {
  // A box that is not ticked is not sent.
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

function numberOf({ label, whole }: Field, text: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && (!whole || Number.isInteger(number))) return number;
  throw new InvalidInput(`${label}: must be a ${whole ? "whole " : ""}number`);
}

/** A choice is sent as its place in the list: it need not be text. */
function choiceOf({ label, options }: Field, text: string): unknown {
  const index = Number(text);
  if (Number.isInteger(index) && index >= 0 && index < options.length) return options[index];
  throw new InvalidInput(`${label}: must be one of the choices`);
}

function jsonOf({ label }: Field, text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new InvalidInput(`${label}: must be JSON: ${(cause as Error).message}`);
  }
}

export function objectOf(value: unknown): Fields {
  return isJsonObject(value) ? value : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
