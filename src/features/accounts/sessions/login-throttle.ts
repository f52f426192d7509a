/**
 * Rate limit against password guessing. An attempt is counted before the password is checked and refunded if it was
 * right, so parallel guesses count like sequential ones.
 *
 * - A place (a network, or a browser that has logged in to the account before) has few attempts per account.
 * - A network has more attempts over all accounts.
 * - An account tolerates a number of wrong attempts from unfamiliar places. Once they are spent, each unfamiliar place
 * has one attempt.
 *
 * Attackers cannot lock a user out: places the account was used from keep their own attempts, and a new place always
 * has one. Counters are in memory, bounded, and per process.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { TooManyRequests } from "../../../lib/errors.ts";
import { toNetwork } from "../../../lib/network.ts";
import { createRandomText, sha256 } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";

const WINDOW_MS = 60_000;
/** Window of an account's wrong attempts from unfamiliar places, and of an unfamiliar place's single attempt. */
const LONG_WINDOW_MS = 15 * 60_000;
const ATTEMPTS_PER_PLACE = 10;
const ATTEMPTS_PER_PLACE_UNDER_ATTACK = 1;
const ATTEMPTS_PER_NETWORK = 100;
const ATTEMPTS_PER_ACCOUNT = 100;
const MAX_TRACKED = 20_000;
/** Familiar networks stored per account. */
const MAX_FAMILIAR_NETWORKS = 16;

interface AttemptWindow {
  taken: number;
  ends: number;
}

interface AttemptCounters {
  places: AttemptWindows;
  networks: AttemptWindows;
  accounts: AttemptWindows;
  /** Networks from which users logged in to an account. */
  familiar: Cache<Set<string>>;
}

type AttemptWindows = Cache<AttemptWindow>;

const attemptCounters = memoizePerApp<App, AttemptCounters>((app) => {
  const windows = () => new Cache<AttemptWindow>({ max: MAX_TRACKED, now: () => app.clock().getTime() });
  return {
    places: windows(),
    networks: windows(),
    accounts: windows(),
    familiar: new Cache({ max: MAX_TRACKED }),
  };
});

/** Where a login attempt comes from. */
export interface LoginOrigin {
  address: string;
  /** The device cookie from an earlier login. */
  device: string | undefined;
}

/**
 * Consumes one attempt to log in to an account.
 * @returns a function to call if the password was right: it refunds the attempt and remembers the place
 * @throws TooManyRequests if no attempt is left
 */
export function consumeAttempt(app: App, email: string, origin: LoginOrigin): () => void {
  const now = app.clock().getTime();
  const memory = attemptCounters(app);
  // Hashed, so that keys are small whatever is sent as an e-mail address.
  const account = sha256(email);
  const network = toNetwork(origin.address);
  const device = origin.device !== undefined && isDeviceProof(app, email, origin.device);
  const isFamiliar = device || (memory.familiar.get(account)?.has(network) ?? false);
  const isAttacked = !isFamiliar && remainingAttempts(memory.accounts, account, ATTEMPTS_PER_ACCOUNT) <= 0;
  const place = sha256(`${account}\n${device ? origin.device : network}`);
  requireAttemptsLeft(
    memory.places,
    place,
    isAttacked ? ATTEMPTS_PER_PLACE_UNDER_ATTACK : ATTEMPTS_PER_PLACE,
    now,
  );
  if (!isFamiliar) requireAttemptsLeft(memory.networks, network, ATTEMPTS_PER_NETWORK, now);
  const taken = [countAttempt(memory.places, place, isAttacked ? LONG_WINDOW_MS : WINDOW_MS, now)];
  if (!isFamiliar) {
    taken.push(countAttempt(memory.networks, network, WINDOW_MS, now));
    taken.push(countAttempt(memory.accounts, account, LONG_WINDOW_MS, now));
  }
  return () => {
    for (const window of taken) window.taken--;
    rememberNetwork(memory.familiar, account, network);
  };
}

function remainingAttempts(windows: AttemptWindows, key: string, limit: number): number {
  return limit - (windows.get(key)?.taken ?? 0);
}

function requireAttemptsLeft(windows: AttemptWindows, key: string, limit: number, now: number): void {
  if (remainingAttempts(windows, key, limit) > 0) return;
  const seconds = Math.ceil((windows.get(key)!.ends - now) / 1000);
  throw new TooManyRequests(`too many wrong passwords from this address: try again in ${seconds} s`, seconds);
}

function countAttempt(windows: AttemptWindows, key: string, length_ms: number, now: number): AttemptWindow {
  let window = windows.get(key);
  if (!window) {
    window = { taken: 0, ends: now + length_ms };
    windows.set(key, window, length_ms);
  }
  window.taken++;
  return window;
}

function rememberNetwork(familiar: AttemptCounters["familiar"], account: string, network: string): void {
  const networks = familiar.get(account) ?? new Set<string>();
  // Reinserted, so that iteration order is by last use and the oldest is evicted.
  networks.delete(network);
  networks.add(network);
  if (networks.size > MAX_FAMILIAR_NETWORKS) networks.delete(networks.values().next().value!);
  familiar.set(account, networks);
}

/** Creates a proof, stored in a cookie, that this browser has logged in to the account. It grants nothing. */
export function createDeviceProof(app: App, email: string): string {
  const nonce = createRandomText(16);
  return `${nonce}.${signDevice(app, email, nonce)}`;
}

function isDeviceProof(app: App, email: string, device: string): boolean {
  const [nonce = "", proof = ""] = device.split(".");
  const expected = Buffer.from(signDevice(app, email, nonce));
  const given = Buffer.from(proof);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function signDevice(app: App, email: string, nonce: string): string {
  return createHmac("sha256", app.instanceKey).update(`device\n${email}\n${nonce}`).digest("hex");
}
