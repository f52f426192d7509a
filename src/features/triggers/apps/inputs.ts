/** What a component may be run with: what its policy settles, and of the caller's inputs what the policy lets through. */
import { isDeepStrictEqual } from "node:util";
import { BadRequest, Forbidden } from "../../../lib/errors.ts";
import { replaceReferences } from "../../assets/interpolate.ts";
import type { Triggerable } from "../../code/apps/policy.ts";

type Inputs = Record<string, unknown>;

const RESOURCE = "$res:";

/** How a caller's references are taken. */
export interface CallerRights {
  /** The run has the caller's own rights, so that references lead no further than the caller reaches anyway. */
  asCaller: boolean;
  /**
   * What stands in the run for a resource of the caller's; undefined when they may not read it themselves.
   * @param at where in the inputs it is named
   */
  bringResource: (reference: string, at: string) => Promise<unknown>;
}

/**
 * The arguments of the run.
 * @throws BadRequest for an input that is none of those it may be; Forbidden for a reference that would be followed with
 * somebody else's rights
 */
export async function inputsFor(
  { static_inputs = {}, one_of_inputs = {}, allow_user_resources = [] }: Triggerable,
  given: Inputs,
  rights: CallerRights,
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
      await settleReferences(input, allow_user_resources.includes(name) ? rights : undefined);
    }
    Object.assign(open, input);
  }
  return { ...open, ...static_inputs };
}

/** @param resources set where the input may name resources that the caller may read */
async function settleReferences(input: Inputs, resources: CallerRights | undefined): Promise<void> {
  await replaceReferences(input, async (text, at) => {
    const brought = text.startsWith(RESOURCE) ? await resources?.bringResource(text, at) : undefined;
    if (brought !== undefined) return brought;
    throw new Forbidden(`input \`${at}\`: "${text.slice(0, 80)}" would be followed with the app's rights`);
  });
}
