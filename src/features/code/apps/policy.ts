/** Who may run what of an app, and with which inputs. */
import { z } from "zod";
import { optional } from "../../../lib/zod.ts";

/**
 * Whose rights a component runs with: of who looks at the app (viewer), or of who deployed it, for people who are logged
 * in (publisher) or for everybody (anonymous).
 */
export const ExecutionMode = z.enum(["viewer", "publisher", "anonymous"]);

const Inputs = z.record(z.string(), z.unknown());

/** What a component may run, by `<component>:<runnable>`. */
const Triggerable = z.looseObject({
  /** These values hold, whatever the caller says. */
  static_inputs: optional(Inputs),
  /** The caller's value must be one of these. */
  one_of_inputs: optional(z.record(z.string(), z.array(z.unknown()))),
  /** Inputs in which the caller may name a resource that they may read. */
  allow_user_resources: optional(z.array(z.string())),
});
export type Triggerable = z.output<typeof Triggerable>;

export const Policy = z.looseObject({
  /** The older form: static inputs by runnable, or by `<component>:<runnable>`. */
  triggerables: optional(z.record(z.string(), Inputs)),
  triggerables_v2: optional(z.record(z.string(), Triggerable)),
  s3_inputs: optional(z.array(z.unknown())),
  execution_mode: ExecutionMode.default("viewer"),
  on_behalf_of: optional(z.string()),
  on_behalf_of_email: optional(z.string()),
});
export type Policy = z.output<typeof Policy>;

/**
 * What the policy says of a component that wants to run something; undefined: it may not.
 * @param runnable `script/<path>`, `flow/<path>` or `rawscript/<SHA-256 of the code, in hex>`
 */
export function triggerableOf(policy: Policy, component: string, runnable: string): Triggerable | undefined {
  const key = `${component}:${runnable}`;
  const { triggerables, triggerables_v2 } = policy;
  // A policy of the newer form says all there is to say.
  if (triggerables_v2) return own(triggerables_v2, key);
  const static_inputs = own(triggerables, key) ?? own(triggerables, runnable);
  return static_inputs && { static_inputs, one_of_inputs: undefined, allow_user_resources: undefined };
}

function own<T>(map: Record<string, T> | undefined, name: string): T | undefined {
  return map && Object.hasOwn(map, name) ? map[name] : undefined;
}
