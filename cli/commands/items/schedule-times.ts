/** Cron rules and their times, on the command line. */
import { InvalidArgumentError } from "commander";
import { previewSchedule } from "../../../src/features/triggers/schedules/operations.ts";
import type { ServiceClient } from "../../client/transport.ts";
import { formatDistance } from "../../terminal/text/times.ts";

export const LOCAL_TIMEZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Checks a cron rule: unquoted stars are expanded by the shell to file names. */
export function requireCron(text: string): string {
  if (text.startsWith("@") || text.trim().split(/\s+/).length >= 5) return text;
  throw new InvalidArgumentError("It has five or six fields; put it in quotes.");
}

/** Lists the next five times of a rule. */
export async function listNextTimes(
  client: ServiceClient,
  schedule: string,
  timezone: string,
  paused_until?: Date | string | null,
): Promise<Date[]> {
  const told = await client.call(previewSchedule, { body: { schedule, timezone, paused_until } });
  return told.map((time) => new Date(time as string | Date));
}

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
