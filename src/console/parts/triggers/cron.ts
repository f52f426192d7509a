/** Describes cron expressions in words. */
import cronstrue from "cronstrue";

/** Describes a cron expression in words; undefined if it cannot be described. */
export function describeCron(cron: string): string | undefined {
  try {
    const words = cronstrue.toString(cron, { use24HourTimeFormat: true, verbose: false });
    return words.charAt(0).toUpperCase() + words.slice(1);
  } catch {
    return undefined;
  }
}
