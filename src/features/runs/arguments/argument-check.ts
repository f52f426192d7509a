/** Checks the arguments of a call against the schema of a script with the option `validate`. */
import { BadRequest } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { describeFaults } from "../../assets/resources/schema-check.ts";

/** Arguments that the server adds to those of the caller. */
const ADDED_ARGUMENTS = ["WEBHOOK__METADATA__"];

/**
 * Checks arguments before a job is created. Arguments that the schema does not name are rejected, unless it has
 * `additionalProperties`. References (`$var:…`) match any type, because their value is known only when the job runs.
 * @param args JSON text of an object
 * @throws BadRequest naming the invalid argument
 */
export async function requireMatchingArguments(
  path: string,
  schema: Record<string, unknown>,
  args: string,
  { mayHaveMore = false } = {},
): Promise<void> {
  const given = { ...(parseJson(args) as Record<string, unknown>) };
  for (const name of ADDED_ARGUMENTS) delete given[name];
  const closed = "properties" in schema && !mayHaveMore ? { additionalProperties: false, ...schema } : schema;
  const faults = await describeFaults(
    closed,
    given,
    (pointer) => (pointer === "" ? "they" : `\`${pointer.slice(1)}\``),
    "they are too large to be checked, or the schema cannot be used for it",
  );
  if (faults !== undefined)
    throw new BadRequest(`the arguments do not match the schema of ${path}: ${faults}`);
}
