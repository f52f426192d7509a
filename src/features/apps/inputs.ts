/** What a component may be run with: what its policy settles, and of the caller's inputs what the policy lets through. */
import { isDeepStrictEqual } from "node:util";
import { BadRequest, Forbidden } from "../../errors.ts";
import type { Triggerable } from "./policy.ts";

type Inputs = Record<string, unknown>;

/** A text that stands for something which whoever runs the job may read: see the references of arguments. */
const REFERENCE = /^\$(\w+:|[A-Za-z_]\w*$)/;
const RESOURCE = /^\$res:(.+)$/s;

/** How a caller's references are taken. */
export interface CallerRights {
  /** The run has the caller's own rights, so that references lead no further than the caller reaches anyway. */
  asCaller: boolean;
  /** Whether the caller may read a resource themselves. */
  mayReadResource: (path: string) => Promise<boolean>;
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
    const choices = Object.hasOwn(one_of_inputs, name) ? one_of_inputs[name] : undefined;
    if (choices) {
      if (!choices.some((choice) => isDeepStrictEqual(choice, value))) {
        throw new BadRequest(`input \`${name}\`: must be one of the values that the app offers`);
      }
    } else if (!rights.asCaller) {
      await checkReferences(name, value, allow_user_resources.includes(name) ? rights : undefined);
    }
    open[name] = value;
  }
  return { ...open, ...static_inputs };
}

/** @param resources set where the input may name resources that the caller may read */
async function checkReferences(
  name: string,
  value: unknown,
  resources: CallerRights | undefined,
): Promise<void> {
  if (typeof value === "string" && REFERENCE.test(value)) {
    const path = RESOURCE.exec(value)?.[1];
    if (resources && path !== undefined && (await resources.mayReadResource(path))) return;
    throw new Forbidden(`input \`${name}\`: "${value.slice(0, 80)}" would be followed with the app's rights`);
  }
  if (typeof value !== "object" || value === null) return;
  for (const inner of Object.values(value)) await checkReferences(name, inner, resources);
}
