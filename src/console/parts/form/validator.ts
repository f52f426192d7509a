/** Form validation by an interpreting JSON Schema validator: compiled ones need `eval`, which the CSP forbids. */
import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import {
  type ErrorSchema,
  type RJSFSchema,
  type RJSFValidationError,
  toErrorSchema,
  type ValidatorType,
  withIdRefPrefix,
} from "@rjsf/utils";

function errorsOf(schema: RJSFSchema, data: unknown): OutputUnit[] {
  try {
    return new Validator(schema as Schema, "2020-12", false).validate(data ?? {}).errors;
  } catch {
    // Invalid schemas validate nothing here; the server validates the arguments.
    return [];
  }
}

/** Keywords whose errors only repeat nested errors. */
const ABOUT_OTHERS = new Set(["properties", "items", "allOf", "$ref", "prefixItems"]);

/** Converts a JSON pointer to the library's path: `#/list/0/name` → `.list.0.name`. */
const toFieldPath = (pointer: string) =>
  pointer
    .slice(1)
    .split("/")
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".");

const WORDS: Record<string, string> = {
  required: "is required",
  minLength: "is too short",
  maxLength: "is too long",
  pattern: "does not have the right format",
  enum: "is not one of the allowed values",
};

function toError({ keyword, error, instanceLocation }: OutputUnit): RJSFValidationError {
  const missing = keyword === "required" ? /"([^"]+)"/.exec(error)?.[1] : undefined;
  const property = toFieldPath(instanceLocation) + (missing === undefined ? "" : `.${missing}`);
  const message = WORDS[keyword] ?? error;
  return { name: keyword, property, message, stack: `${property.slice(1)} ${message}` };
}

export const validator: ValidatorType = {
  validateFormData(data, schema) {
    const errors = errorsOf(schema as RJSFSchema, data)
      .filter(({ keyword }) => !ABOUT_OTHERS.has(keyword))
      .map(toError);
    return { errors, errorSchema: toErrorSchema(errors) as ErrorSchema };
  },
  isValid(schema, data, root) {
    const whole = { ...(withIdRefPrefix(root) as RJSFSchema), ...(schema as RJSFSchema) };
    return errorsOf(whole, data).length === 0;
  },
  rawValidation(schema, data) {
    return { errors: errorsOf(schema as RJSFSchema, data) as never[] };
  },
};
