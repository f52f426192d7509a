import { z } from "zod";
import { unsearchable } from "../../../../lib/json/contains.ts";
import { parseFields } from "../../../../lib/json/json.ts";

/** A query field that says which JSON a stored value must hold; wrapped, since JSON's null is a value too. */
export const jsonFilter = z.string().transform((text, check) => {
  try {
    const value = parseFields(text) as unknown;
    const problem = unsearchable(value);
    if (problem === undefined) return { value };
    check.addIssue(problem);
    return z.NEVER;
  } catch (cause) {
    check.addIssue(`must be JSON text, such as {"name":"Bob"}: ${(cause as Error).message}`);
    return z.NEVER;
  }
});
