/** The mode of a trigger: newer clients send a text, older ones a boolean. */
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";

/** `suspended` queues events elsewhere until somebody acts; here it drops them, like `disabled`. */
export const TriggerMode = optionalField(z.enum(["enabled", "disabled", "suspended"]));
type TriggerMode = z.output<typeof TriggerMode>;

/** Whether a trigger is enabled: both fields must say so. */
export function isTriggerEnabled(enabled: boolean | undefined, mode: TriggerMode): boolean {
  return (enabled ?? true) && (mode ?? "enabled") === "enabled";
}

export function toTriggerMode(enabled: boolean): "enabled" | "disabled" {
  return enabled ? "enabled" : "disabled";
}
