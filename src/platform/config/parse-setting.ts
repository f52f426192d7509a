import { BadRequest } from "../../lib/errors.ts";
import { describeIssues } from "../../lib/validation-messages.ts";
import { findDefinition } from "./instance-settings.ts";

const KEY_PATTERN = /^[\w.-]{1,100}$/;
/** Maximum size of an unknown setting: all settings are kept in memory. */
const MAX_UNKNOWN_CHARACTERS = 100_000;

/** Returns the key if it can name a setting. @throws BadRequest otherwise */
export function parseSettingKey(key: string): string {
  if (KEY_PATTERN.test(key)) return key;
  throw new BadRequest(
    `"${key.slice(0, 100)}" cannot be the key of a setting: use letters, digits, _, - and dots, 100 characters at most`,
  );
}

/**
 * Normalises a value to its stored form. Errors never quote the value: it may be a secret.
 * @throws BadRequest with the key and the allowed values
 */
export function parseSettingValue(key: string, value: unknown): unknown {
  const definition = findDefinition(key);
  if (!definition) {
    if (JSON.stringify(value).length <= MAX_UNKNOWN_CHARACTERS) return value;
    throw new BadRequest(
      `setting ${key} is not known here, and larger than the ${MAX_UNKNOWN_CHARACTERS} characters that unknown settings may have`,
    );
  }
  const result = definition.schema.safeParse(value);
  if (result.success) return result.data;
  throw new BadRequest(
    `setting ${key} must be ${definition.allowed} (${describeIssues("value", result.error, value)})`,
  );
}
