/**
 * Times that are told by cron. Daylight saving: times that a day does not have come once, when the clock has leapt over
 * them, and one that it has twice comes the first time; a rule for every hour (or every so many) comes in each hour that
 * passes.
 */
import { Cron } from "croner";
import { BadRequest } from "../../../lib/errors.ts";
import { wallClock } from "./wall-clock.ts";

/** A moment in the far past, from which a rule that ever comes has a next one. */
const ALWAYS = new Date(0);

/**
 * Checks a rule of five to seven fields, or a name such as `@daily`.
 * @throws BadRequest naming what is wrong, for a rule that never comes too
 */
export function checkCron(schedule: string, timezone: string): void {
  readCron(schedule, timezone);
}

/** @returns the rule, told by a clock in UTC unless it is one for every hour. @throws BadRequest */
function readCron(schedule: string, timezone: string): Cron {
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
  } catch {
    throw new BadRequest(`\`timezone\`: ${timezone} is none; use a name such as Europe/Berlin or UTC`);
  }
  const rule = schedule.trim();
  if (!/^@[a-z]+$/.test(rule) && ![5, 6, 7].includes(rule.split(/\s+/).length)) {
    throw new BadRequest(
      `\`schedule\`: "${schedule}" must be five fields (minute hour day month weekday), six with seconds first, or seven with the year last`,
    );
  }
  let cron: Cron;
  try {
    // Sloppy: `5/10` is every ten from five on, as Quartz has it.
    const options = { timezone: isForEveryHour(rule) ? timezone : "UTC", paused: true, sloppyRanges: true };
    cron = new Cron(rule, options);
  } catch (cause) {
    throw new BadRequest(`\`schedule\`: "${schedule}" cannot be read: ${(cause as Error).message}`);
  }
  if (!cron.nextRun(ALWAYS)) throw new BadRequest(`\`schedule\`: "${schedule}" never comes`);
  return cron;
}

/** The next moments after `from`, at most `count`. @throws BadRequest */
export function nextRuns(schedule: string, timezone: string, from: Date, count: number): Date[] {
  const next = comingOf(schedule, timezone);
  const times: Date[] = [];
  for (let at = next(from); at && times.length < count; at = next(at)) times.push(at);
  return times;
}

/** When a schedule is due next. @throws BadRequest */
export function nextDue(
  { schedule, timezone, paused_until }: { schedule: string; timezone: string; paused_until: Date | null },
  now: Date,
): Date | null {
  return comingOf(schedule, timezone)(notBefore(paused_until, now));
}

/** The moment after which a schedule's times count: its pause, whose end is none of it, leaves out those before. */
export function notBefore(paused_until: Date | null, now: Date): Date {
  return paused_until !== null && paused_until > now ? new Date(paused_until.getTime() - 1) : now;
}

/** Tells the first moment after another one. */
function comingOf(schedule: string, timezone: string): (from: Date) => Date | null {
  const cron = readCron(schedule, timezone);
  if (isForEveryHour(schedule.trim())) return (from) => cron.nextRun(wholeSecond(from));
  const clock = wallClock(timezone);
  return (from) => {
    const since = wholeSecond(from);
    for (let shown = cron.nextRun(clock.at(since)); shown; shown = cron.nextRun(shown)) {
      const at = clock.when(shown);
      // In an hour that comes twice, what it shows was told of already.
      if (at > since) return at;
    }
    return null;
  };
}

function isForEveryHour(rule: string): boolean {
  if (rule.startsWith("@")) return rule === "@hourly";
  const fields = rule.split(/\s+/);
  const hour = fields[fields.length === 5 ? 1 : 2] ?? "";
  return /\*|^0-23|^0\//.test(hour);
}

/** Milliseconds would be carried over into what follows. */
function wholeSecond(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1000) * 1000);
}
