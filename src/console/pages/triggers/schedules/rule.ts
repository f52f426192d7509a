/** Describes cron expressions in words. */
import cronstrue from "cronstrue";

/** Returns the rule in words; undefined if it cannot be described. */
export function describeCron(cron: string): string | undefined {
  try {
    const words = cronstrue.toString(cron, { use24HourTimeFormat: true, verbose: false });
    return words.charAt(0).toUpperCase() + words.slice(1);
  } catch {
    return undefined;
  }
}

/** Time zones known to the browser. */
export const ZONES: string[] = [
  "UTC",
  ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC"),
];

export const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Formats a time in a time zone, such as `Mon, 23 Nov 2026, 09:00`. */
export function formatInZone(at: string, timeZone: string): string {
  const options = { timeZone, weekday: "short", day: "numeric", month: "short", year: "numeric" } as const;
  return new Intl.DateTimeFormat(undefined, { ...options, hour: "2-digit", minute: "2-digit" }).format(
    new Date(at),
  );
}
