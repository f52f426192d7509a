/** Cron expressions and their next times, on the command line. */
import { previewSchedule } from "../../client/operations/triggers.ts";
import type { ServiceClient } from "../../client/transport.ts";
import { createUsageError } from "../../terminal/text/failure.ts";

/** Checks that a cron expression is not a list of file names, to which the shell expands unquoted stars. */
export function requireCron(text: string): string {
  if (text.startsWith("@") || text.trim().split(/\s+/).length >= 5) return text;
  throw createUsageError(
    `"${text}" is not a cron expression, which has five fields, six with seconds, or seven with the year`,
    "put it in quotes, such as '0 9 * * 1-5' for nine o'clock on weekdays",
  );
}

/** Lists the next five times of a cron expression. */
export async function listNextTimes(
  client: ServiceClient,
  schedule: string,
  timezone: string,
  paused_until?: Date | string | null,
): Promise<Date[]> {
  const told = await client.call(previewSchedule, { body: { schedule, timezone, paused_until } });
  return told.map((time) => new Date(time as string | Date));
}
