/**
 * Slows down the guessing of passwords. Wrong attempts are counted per account and address together, and per address:
 * guessing from one place never locks a person out elsewhere.
 */
import type { App } from "../../context.ts";
import { TooManyRequests } from "../../errors.ts";
import { sha256 } from "../../lib/ids.ts";
import { perApp } from "../../lib/per-app.ts";

const WINDOW_MS = 60_000;
const PER_ACCOUNT_AND_ADDRESS = 10;
const PER_ADDRESS = 100;
const MAX_TRACKED = 20_000;

interface Window {
  failures: number;
  ends: number;
}

const windowsOf = perApp<App, Map<string, Window>>(() => new Map());

/** @throws TooManyRequests while there were too many wrong passwords from this address */
export function checkAttempt(app: App, email: string, address: string): void {
  const now = app.clock().getTime();
  for (const [key, most] of keys(email, address)) {
    const window = windowsOf(app).get(key);
    if (window && window.ends > now && window.failures >= most) {
      const seconds = Math.ceil((window.ends - now) / 1000);
      throw new TooManyRequests(`too many wrong passwords from here: try again in ${seconds} s`, seconds);
    }
  }
}

export function recordFailure(app: App, email: string, address: string): void {
  const now = app.clock().getTime();
  const windows = windowsOf(app);
  for (const [key] of keys(email, address)) {
    const window = windows.get(key);
    if (window && window.ends > now) window.failures++;
    else {
      if (windows.size >= MAX_TRACKED) windows.delete(windows.keys().next().value!);
      windows.set(key, { failures: 1, ends: now + WINDOW_MS });
    }
  }
}

function keys(email: string, address: string): [key: string, most: number][] {
  return [
    // Hashed: what is tracked stays small, whatever is sent as an e-mail address.
    [sha256(`${address}\n${email}`), PER_ACCOUNT_AND_ADDRESS],
    [address, PER_ADDRESS],
  ];
}
