/** Times that are told by cron. Daylight saving: a time that a day does not have comes an hour later, one it has twice comes once. */
import { Cron } from "croner";
import { BadRequest } from "../../errors.ts";

/** A moment in the far past, from which a rule that ever comes has a next one. */
const ALWAYS = new Date(0);

/**
 * Reads a rule of five or six fields, or a name such as `@daily`.
 * @throws BadRequest naming what is wrong, for a rule that never comes too
 */
export function checkCron(schedule: string, timezone: string): Cron {
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
  } catch {
    throw new BadRequest(`\`timezone\`: ${timezone} is none; use a name such as Europe/Berlin or UTC`);
  }
  const rule = schedule.trim();
  if (!/^@[a-z]+$/.test(rule) && ![5, 6].includes(rule.split(/\s+/).length)) {
    throw new BadRequest(
      `\`schedule\`: "${schedule}" must be five fields (minute hour day month weekday), or six with seconds first`,
    );
  }
  let cron: Cron;
  try {
    cron = new Cron(rule, { timezone, paused: true });
  } catch (cause) {
    throw new BadRequest(`\`schedule\`: "${schedule}" cannot be read: ${(cause as Error).message}`);
  }
  if (!cron.nextRun(ALWAYS)) throw new BadRequest(`\`schedule\`: "${schedule}" never comes`);
  return cron;
}

/** The next moments after `from`, at most `count`. @throws BadRequest */
export function nextRuns(schedule: string, timezone: string, from: Date, count: number): Date[] {
  return checkCron(schedule, timezone).nextRuns(count, wholeSecond(from));
}

/** @throws BadRequest */
export function nextRun(schedule: string, timezone: string, from: Date): Date | null {
  return checkCron(schedule, timezone).nextRun(wholeSecond(from));
}

/** Milliseconds would be carried over into what follows. */
function wholeSecond(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1000) * 1000);
}
