import { explainUnsearchable } from "../../../../lib/json/contains.ts";
import { parseSchemaJson } from "../../../../lib/json/json.ts";
import * as z from "../../../../lib/zod/z.ts";

/** A query field with JSON that a stored value must contain. The value is wrapped because null is a value too. */
export const jsonFilter = z.string().transform((text, check) => {
  try {
    const value = parseSchemaJson(text) as unknown;
    const problem = explainUnsearchable(value);
    if (problem === undefined) return { value };
    check.addIssue(problem);
    return z.NEVER;
  } catch (cause) {
    check.addIssue(`must be JSON text, such as {"name":"Bob"}: ${(cause as Error).message}`);
    return z.NEVER;
  }
});
