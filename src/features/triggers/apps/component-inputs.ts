/** The inputs of a component's run: those fixed by its policy, and those of the caller that the policy allows. */
import { isDeepStrictEqual } from "node:util";
import { BadRequest, Forbidden } from "../../../lib/errors.ts";
import { replaceReferences } from "../../assets/interpolate.ts";
import type { Triggerable } from "../../code/apps/policy.ts";

type Inputs = Record<string, unknown>;

const RESOURCE_PREFIX = "$res:";

/** How references in the caller's inputs are resolved. */
export interface ReferenceRights {
  /** The run has the caller's own rights, so references need no check. */
  asCaller: boolean;
  /**
   * Returns the value that replaces a reference to the caller's resource; undefined if the caller may not read it.
   * @param at path of the input
   */
  bringResource: (reference: string, at: string) => Promise<unknown>;
}

/**
 * Creates the arguments of the run.
 * @throws BadRequest for a value that the policy does not offer; Forbidden for a reference that would be resolved with
 * another user's rights
 */
export async function createComponentInputs(
  { static_inputs = {}, one_of_inputs = {}, allow_user_resources = [] }: Triggerable,
  given: Inputs,
  rights: ReferenceRights,
): Promise<Inputs> {
  const settled = new Set(Object.keys(static_inputs));
  const open: Inputs = {};
  for (const [name, value] of Object.entries(given)) {
    if (settled.has(name)) continue;
    const input = { [name]: value };
    const choices = Object.hasOwn(one_of_inputs, name) ? one_of_inputs[name] : undefined;
    if (choices) {
      if (!choices.some((choice) => isDeepStrictEqual(choice, value))) {
        throw new BadRequest(`input \`${name}\`: must be one of the values that the app offers`);
      }
    } else if (!rights.asCaller) {
      await resolveInputReferences(input, allow_user_resources.includes(name) ? rights : undefined);
    }
    Object.assign(open, input);
  }
  return { ...open, ...static_inputs };
}

/**
 * Resolves the resource references in the inputs of a caller, and rejects all other references.
 * @param resources set if the input may refer to resources that the caller may read
 * @throws Forbidden
 */
async function resolveInputReferences(input: Inputs, resources: ReferenceRights | undefined): Promise<void> {
  await replaceReferences(input, async (text, at) => {
    const brought = text.startsWith(RESOURCE_PREFIX) ? await resources?.bringResource(text, at) : undefined;
    if (brought !== undefined) return brought;
    throw new Forbidden(`input \`${at}\`: "${text.slice(0, 80)}" would be resolved with the app's rights`);
  });
}
