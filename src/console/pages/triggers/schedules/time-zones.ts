/** Time zones, and times in them. */

export const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Time zones known to the browser: its own and UTC before all others. */
export const ZONES: string[] = [...new Set([OWN_ZONE, "UTC", ...Intl.supportedValuesOf("timeZone")])];

/** Formats times in a time zone, such as `Mon, 23 Nov 2026, 09:00`; with seconds if one of them has some. */
export function formatInZone(times: string[], timeZone: string): string[] {
  const date = { timeZone, weekday: "short", day: "numeric", month: "short", year: "numeric" } as const;
  const hasSeconds = times.some((at) => new Date(at).getUTCSeconds() > 0);
  const time = {
    hour: "2-digit",
    minute: "2-digit",
    ...(hasSeconds ? { second: "2-digit" as const } : {}),
  } as const;
  const format = new Intl.DateTimeFormat(undefined, { ...date, ...time });
  return times.map((at) => format.format(new Date(at)));
}
