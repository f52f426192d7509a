/** Whether a trigger is switched on, as newer clients say it: a word where older ones have a yes or no. */
import { z } from "zod";
import { optional } from "../../../lib/zod.ts";

/** `suspended` takes events in and runs nothing until somebody looks at them: here nothing is taken in then. */
export const Mode = optional(z.enum(["enabled", "disabled", "suspended"]));
type Mode = z.output<typeof Mode>;

/** What is said in both ways counts as switched on when both say so. */
export function isEnabled(enabled: boolean | undefined, mode: Mode): boolean {
  return (enabled ?? true) && (mode ?? "enabled") === "enabled";
}

export function modeOf(enabled: boolean): "enabled" | "disabled" {
  return enabled ? "enabled" : "disabled";
}
