/** Formats durations and times for people, short enough for a table. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** Formats a duration: `12 ms`, `3.4 s`, `2m 5s`, `3h 12m`, `2d 4h`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m ${Math.floor((ms % MINUTE) / SECOND)}s`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h ${Math.floor((ms % HOUR) / MINUTE)}m`;
  return `${Math.floor(ms / DAY)}d ${Math.floor((ms % DAY) / HOUR)}h`;
}

/** Formats the distance from now: `3m ago`, `in 2h`, `now`. */
export function formatDistance(moment: Date | string, now = Date.now()): string {
  const ms = now - new Date(moment).getTime();
  const far = Math.abs(ms);
  const unit = UNITS.find(([, length]) => far >= length);
  if (!unit) return "now";
  const [name, length] = unit;
  // Rounded, so that a job scheduled in 2h is still shown as such a moment later.
  return ms > 0 ? `${Math.floor(far / length)}${name} ago` : `in ${Math.round(far / length)}${name}`;
}

const UNITS: [name: string, ms: number][] = [
  ["y", YEAR],
  ["d", DAY],
  ["h", HOUR],
  ["m", MINUTE],
  ["s", SECOND],
];

/** IANA name of this machine's time zone. */
export const LOCAL_TIMEZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Formats a time: `Tuesday 3 March 2026, 09:00:00 CET (in 2h)`. */
export function formatTime(time: Date, timeZone: string): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    weekday: "long",
    day: "numeric",
    month: "long",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  });
  return `${format.format(time).replace(" at ", ", ")} (${formatDistance(time)})`;
}
