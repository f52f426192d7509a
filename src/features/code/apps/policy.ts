/** The policy of an app: which runnables its components may run, with whose rights and with which inputs. */
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";

/**
 * The rights a component runs with. `viewer`: the person viewing the app. `publisher`: its deployer, for logged-in
 * people. `anonymous`: its deployer, for everybody.
 */
export const ExecutionMode = z.enum(["viewer", "publisher", "anonymous"]);

const Inputs = z.record(z.string(), z.unknown());

/** The restrictions of one runnable, by `<component>:<runnable>`. */
const Triggerable = z.looseObject({
  /** Fixed inputs, which override those of the caller. */
  static_inputs: optionalField(Inputs),
  /** The allowed values of an input. */
  one_of_inputs: optionalField(z.record(z.string(), z.array(z.unknown()))),
  /** Inputs in which the caller may reference a resource they can read. */
  allow_user_resources: optionalField(z.array(z.string())),
});
export type Triggerable = z.output<typeof Triggerable>;

export const Policy = z.looseObject({
  /** The older form: static inputs by runnable, or by `<component>:<runnable>`. */
  triggerables: optionalField(z.record(z.string(), Inputs)),
  triggerables_v2: optionalField(z.record(z.string(), Triggerable)),
  s3_inputs: optionalField(z.array(z.unknown())),
  execution_mode: ExecutionMode.default("viewer"),
  on_behalf_of: optionalField(z.string()),
  on_behalf_of_email: optionalField(z.string()),
});
export type Policy = z.output<typeof Policy>;

/**
 * Returns the restrictions for a component that runs something; undefined if it may not run it.
 * @param runnable `script/<path>`, `flow/<path>` or `rawscript/<SHA-256 of the code, in hex>`
 */
export function findTriggerable(
  policy: Policy,
  component: string,
  runnable: string,
): Triggerable | undefined {
  const key = `${component}:${runnable}`;
  const { triggerables, triggerables_v2 } = policy;
  // If the newer form is present, the older one is ignored.
  if (triggerables_v2) return ownValue(triggerables_v2, key);
  const static_inputs = ownValue(triggerables, key) ?? ownValue(triggerables, runnable);
  return static_inputs && { static_inputs, one_of_inputs: undefined, allow_user_resources: undefined };
}

function ownValue<T>(map: Record<string, T> | undefined, name: string): T | undefined {
  return map && Object.hasOwn(map, name) ? map[name] : undefined;
}
