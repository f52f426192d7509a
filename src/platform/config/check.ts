import { BadRequest } from "../../lib/errors.ts";
import { explain } from "../../lib/validation-messages.ts";
import { definitionOf } from "./keys.ts";

const NAME = /^[\w.-]{1,100}$/;
/** Of a key nobody here knows: all settings are held in memory. */
const MAX_UNKNOWN = 100_000;

/** @throws BadRequest for what cannot be the name of a setting */
export function checkKey(key: string): string {
  if (NAME.test(key)) return key;
  throw new BadRequest(
    `"${key.slice(0, 100)}" cannot be the key of a setting: use letters, digits, _, - and dots, 100 characters at most`,
  );
}

/**
 * Brings a value to the form it is kept in. The given value is never quoted: it may be a secret.
 * @throws BadRequest with the key and what is allowed
 */
export function check(key: string, value: unknown): unknown {
  const definition = definitionOf(key);
  if (!definition) {
    if (JSON.stringify(value).length <= MAX_UNKNOWN) return value;
    throw new BadRequest(
      `setting ${key} is not known here, and larger than the ${MAX_UNKNOWN} characters such may have`,
    );
  }
  const result = definition.schema.safeParse(value);
  if (result.success) return result.data;
  throw new BadRequest(
    `setting ${key} must be ${definition.allowed} (${explain("value", result.error, value)})`,
  );
}
