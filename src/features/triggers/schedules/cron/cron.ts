/**
 * Cron expressions. On daylight-saving changes, skipped times run once, right after the change; times that occur twice
 * run the first time only. Hourly schedules (also "every n hours") run in each elapsed hour.
 */
import { Cron } from "croner";
import { BadRequest } from "../../../../lib/errors.ts";
import { createWallClock } from "./wall-clock.ts";

/** A time in the distant past, after which every valid expression has a next time. */
const EPOCH = new Date(0);

/** Fields of an expression with seconds and a year. */
const FIELDS = [
  { name: "second", values: "0 to 59" },
  { name: "minute", values: "0 to 59" },
  { name: "hour", values: "0 to 23" },
  { name: "day of the month", values: "1 to 31 or L" },
  { name: "month", values: "1 to 12 or jan to dec" },
  { name: "weekday", values: "0 to 7 or sun to sat" },
  { name: "year", values: "a year" },
];

/**
 * Validates a cron expression of five to seven fields, or a name such as `@daily`.
 * @throws BadRequest saying what is wrong, also for an expression that never matches
 */
export function requireValidCron(schedule: string, timezone: string): void {
  parseCron(schedule, timezone);
}

/**
 * Parses a cron expression.
 * @returns the schedule in UTC, except for hourly ones, which use the time zone.
 * @throws BadRequest
 */
function parseCron(schedule: string, timezone: string): Cron {
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
  } catch {
    throw new BadRequest(
      `\`timezone\`: ${timezone} is not a time zone; use a name such as Europe/Berlin or UTC`,
    );
  }
  const rule = schedule.trim();
  if (!/^@[a-z]+$/.test(rule) && ![5, 6, 7].includes(rule.split(/\s+/).length)) {
    throw new BadRequest(
      `\`schedule\`: "${schedule}" must be five fields (minute hour day month weekday), six with seconds first, or seven with the year last`,
    );
  }
  let cron: Cron;
  try {
    // Allows `5/10` for "every ten from five", as Quartz does.
    const options = { timezone: isHourly(rule) ? timezone : "UTC", paused: true, sloppyRanges: true };
    cron = new Cron(rule, options);
  } catch {
    throw new BadRequest(`\`schedule\`: "${schedule}" cannot be read: ${explainFault(rule)}`);
  }
  if (!cron.nextRun(EPOCH)) throw new BadRequest(`\`schedule\`: "${schedule}" never occurs`);
  return cron;
}

/** Returns which field of a cron expression is invalid, and its allowed values. */
function explainFault(rule: string): string {
  if (rule.startsWith("@")) return "the names are @yearly, @monthly, @weekly, @daily and @hourly";
  const fields = rule.split(/\s+/);
  const first = fields.length === 5 ? 1 : 0;
  for (const [n, field] of fields.entries()) {
    const alone = fields.map((_, m) => (m === n ? field : "*"));
    if (isReadable(alone.join(" "))) continue;
    const { name, values } = FIELDS[first + n]!;
    return `the ${name} is "${field}"; it may be ${values}, a list (1,3), a range (1-5), steps (*/10) or *`;
  }
  return "its fields do not go together";
}

function isReadable(rule: string): boolean {
  try {
    new Cron(rule, { paused: true, sloppyRanges: true });
    return true;
  } catch {
    return false;
  }
}

/** Lists the next times after `from`, at most `count`. @throws BadRequest */
export function listNextRuns(schedule: string, timezone: string, from: Date, count: number): Date[] {
  const next = createNextTime(schedule, timezone);
  const times: Date[] = [];
  for (let at = next(from); at && times.length < count; at = next(at)) times.push(at);
  return times;
}

/** Returns when a schedule is due next. @throws BadRequest */
export function computeNextRunTime(
  { schedule, timezone, paused_until }: { schedule: string; timezone: string; paused_until: Date | null },
  now: Date,
): Date | null {
  return createNextTime(schedule, timezone)(computeEarliestRunTime(paused_until, now));
}

/** Returns the time from which runs count: a pause skips all times before its end, but not the end itself. */
export function computeEarliestRunTime(paused_until: Date | null, now: Date): Date {
  return paused_until !== null && paused_until > now ? new Date(paused_until.getTime() - 1) : now;
}

/** Returns a function that finds the first time after another. */
function createNextTime(schedule: string, timezone: string): (from: Date) => Date | null {
  const cron = parseCron(schedule, timezone);
  if (isHourly(schedule.trim())) return (from) => cron.nextRun(floorToSecond(from));
  const clock = createWallClock(timezone);
  return (from) => {
    const since = floorToSecond(from);
    for (let shown = cron.nextRun(clock.read(since)); shown; shown = cron.nextRun(shown)) {
      const at = clock.find(shown);
      // If an hour occurs twice, the time was already used in the first one.
      if (at > since) return at;
    }
    return null;
  };
}

function isHourly(rule: string): boolean {
  if (rule.startsWith("@")) return rule === "@hourly";
  const fields = rule.split(/\s+/);
  const hour = fields[fields.length === 5 ? 1 : 2] ?? "";
  return /\*|^0-23|^0\//.test(hour);
}

/** Removes milliseconds, which the library would carry over to the next time. */
function floorToSecond(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1000) * 1000);
}
