/** Reads the values of options: numbers, spans of time, moments. What they do not understand is a usage error. */
import { z } from "zod";
import { parseDuration } from "../../src/lib/async/duration.ts";
import { usageError } from "../terminal/text/failure.ts";

/** Reads a whole number given as an option. @throws a usage error */
export function wholeNumber(flag: string, text: string, most = Number.MAX_SAFE_INTEGER, least = 0): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= most && number >= least) return number;
  const range = most === Number.MAX_SAFE_INTEGER ? "a whole number" : `a number from ${least} to ${most}`;
  throw usageError(`${flag} ${text}: must be ${range}`);
}

/** A century: what is further off cannot be told from a slip of the finger. */
const MOST_DAYS = 36_500;

/** Reads a span of time such as `15m` or `2h`. @returns seconds @throws a usage error */
export function secondsOf(flag: string, text: string): number {
  const seconds = parsed(flag, text);
  if (seconds <= MOST_DAYS * 86_400) return seconds;
  throw usageError(`${flag} ${text}: must be at most ${MOST_DAYS}d`);
}

function parsed(flag: string, text: string): number {
  try {
    return parseDuration(text);
  } catch (cause) {
    throw usageError(`${flag}: ${(cause as Error).message}`);
  }
}

const Day = z.iso.date();
const TIME = /^T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$/;
const MOMENT_HINT = "such as 2030-01-31, 2030-01-31T09:00 (this machine's time zone) or 2030-01-31T09:00:00Z";

/** Reads a moment in ISO 8601; one without a zone is meant in this machine's. @throws a usage error */
export function momentOf(flag: string, text: string): Date {
  const [day, time] = [text.slice(0, 10), text.slice(10) || "T00:00"];
  const moment = new Date(day + time);
  // A Date would take the 31st of February for the 3rd of March.
  if (Day.safeParse(day).success && TIME.test(time) && !Number.isNaN(moment.getTime())) return moment;
  throw usageError(`${flag} ${text}: is not a time`, MOMENT_HINT);
}

/** Reads a moment in the past: how long ago it was, such as `2h`, or the moment itself. @throws a usage error */
export function momentBack(flag: string, text: string): Date {
  if (!/^\d+[a-z]$/.test(text)) return momentOf(flag, text);
  return new Date(Date.now() - secondsOf(flag, text) * 1000);
}
