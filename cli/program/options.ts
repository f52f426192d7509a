/** Parses option values: numbers, durations, times. Invalid values are usage errors. */
import { parseDuration } from "../../src/lib/async/duration.ts";
import { createUsageError } from "../terminal/text/failure.ts";

/** Parses a whole number. @throws a usage error */
export function parseWholeNumber(
  flag: string,
  text: string,
  limit = Number.MAX_SAFE_INTEGER,
  minimum = 0,
): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= limit && number >= minimum) return number;
  const range = limit === Number.MAX_SAFE_INTEGER ? "a whole number" : `a number from ${minimum} to ${limit}`;
  throw createUsageError(`${flag} ${text}: must be ${range}`);
}

/** A century: anything longer is probably a typing error. */
const MAX_DAYS = 36_500;

/** Parses a duration such as `15m` or `2h`. @returns seconds @throws a usage error */
export function parseSeconds(flag: string, text: string): number {
  const seconds = parseSpan(flag, text);
  if (seconds <= MAX_DAYS * 86_400) return seconds;
  throw createUsageError(`${flag} ${text}: must be at most ${MAX_DAYS}d`);
}

function parseSpan(flag: string, text: string): number {
  try {
    return parseDuration(text);
  } catch (cause) {
    throw createUsageError(`${flag}: ${(cause as Error).message}`);
  }
}

const TIME = /^T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$/;
const MOMENT_HINT = "such as 2030-01-31, 2030-01-31T09:00 (this machine's time zone) or 2030-01-31T09:00:00Z";

/** Parses an ISO 8601 time; without a time zone it is in this machine's. @throws a usage error */
export function parseTime(flag: string, text: string): Date {
  const [day, time] = [text.slice(0, 10), text.slice(10) || "T00:00"];
  const moment = new Date(day + time);
  if (isDay(day) && TIME.test(time) && !Number.isNaN(moment.getTime())) return moment;
  throw createUsageError(`${flag} ${text}: is not a time`, MOMENT_HINT);
}

/** Whether a text is a day of the calendar, such as 2030-01-31; `Date` would convert 31 February to 3 March. */
function isDay(text: string): boolean {
  const midnight = new Date(`${text}T00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(`${text}T`);
}

/** Parses a time in the past: a duration such as `2h` ago, or the time itself. @throws a usage error */
export function parsePastTime(flag: string, text: string): Date {
  if (!/^\d+[a-z]$/.test(text)) return parseTime(flag, text);
  return new Date(Date.now() - parseSeconds(flag, text) * 1000);
}
