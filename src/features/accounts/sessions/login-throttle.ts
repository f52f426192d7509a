/**
 * Slows down the guessing of passwords. An attempt is taken out of what its sender has left before the password is
 * looked at, and given back when it was right; so guesses sent all at once count like guesses sent one after another.
 *
 * - A place (a network, or a browser that has logged in to the account before) has few guesses at one account.
 * - A network has more at all accounts together.
 * - An account bears a number of wrong guesses from strangers; once they are spent, each strange place has one.
 *
 * Nobody is locked out by what others do elsewhere: a place that the account was logged in from keeps its own guesses,
 * and a new one always has a first. Counts are in memory, bounded, and of this process.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Cache } from "../../../lib/async/cache.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { TooManyRequests } from "../../../lib/errors.ts";
import { networkOf } from "../../../lib/network.ts";
import { randomText, sha256 } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";

const WINDOW_MS = 60_000;
/** For which an account remembers wrong guesses of strangers, and a stranger waits after its one. */
const LONG_WINDOW_MS = 15 * 60_000;
const PER_PLACE = 10;
const PER_PLACE_UNDER_ATTACK = 1;
const PER_NETWORK = 100;
const PER_ACCOUNT = 100;
const MAX_TRACKED = 20_000;
/** Networks remembered of one account. */
const MAX_FAMILIAR = 16;

interface Window {
  taken: number;
  ends: number;
}

interface Memory {
  places: Windows;
  networks: Windows;
  accounts: Windows;
  /** Networks from which an account was logged in to. */
  familiar: Cache<Set<string>>;
}

type Windows = Cache<Window>;

const memoryOf = perApp<App, Memory>((app) => {
  const windows = () => new Cache<Window>({ max: MAX_TRACKED, now: () => app.clock().getTime() });
  return {
    places: windows(),
    networks: windows(),
    accounts: windows(),
    familiar: new Cache({ max: MAX_TRACKED }),
  };
});

/** Where an attempt comes from. */
export interface Origin {
  address: string;
  /** The value of the cookie that a browser got when it logged in before. */
  device: string | undefined;
}

/**
 * Takes one attempt at an account.
 * @returns to be called when the password was right: gives the attempt back and remembers the place
 * @throws TooManyRequests when there is none left
 */
export function takeAttempt(app: App, email: string, origin: Origin): () => void {
  const now = app.clock().getTime();
  const memory = memoryOf(app);
  // Hashed: what is tracked stays small, whatever is sent as an e-mail address.
  const account = sha256(email);
  const network = networkOf(origin.address);
  const device = origin.device !== undefined && isDeviceOf(app, email, origin.device);
  const isFamiliar = device || (memory.familiar.get(account)?.has(network) ?? false);
  const isAttacked = !isFamiliar && left(memory.accounts, account, PER_ACCOUNT) <= 0;
  const place = sha256(`${account}\n${device ? origin.device : network}`);
  refuseWithout(memory.places, place, isAttacked ? PER_PLACE_UNDER_ATTACK : PER_PLACE, now);
  if (!isFamiliar) refuseWithout(memory.networks, network, PER_NETWORK, now);
  const taken = [take(memory.places, place, isAttacked ? LONG_WINDOW_MS : WINDOW_MS, now)];
  if (!isFamiliar) {
    taken.push(take(memory.networks, network, WINDOW_MS, now));
    taken.push(take(memory.accounts, account, LONG_WINDOW_MS, now));
  }
  return () => {
    for (const window of taken) window.taken--;
    remember(memory.familiar, account, network);
  };
}

function left(windows: Windows, key: string, most: number): number {
  return most - (windows.get(key)?.taken ?? 0);
}

function refuseWithout(windows: Windows, key: string, most: number, now: number): void {
  if (left(windows, key, most) > 0) return;
  const seconds = Math.ceil((windows.get(key)!.ends - now) / 1000);
  throw new TooManyRequests(`too many wrong passwords from here: try again in ${seconds} s`, seconds);
}

function take(windows: Windows, key: string, length_ms: number, now: number): Window {
  let window = windows.get(key);
  if (!window) {
    window = { taken: 0, ends: now + length_ms };
    windows.set(key, window, length_ms);
  }
  window.taken++;
  return window;
}

function remember(familiar: Memory["familiar"], account: string, network: string): void {
  const networks = familiar.get(account) ?? new Set<string>();
  // Deleted first: the ones used last stand at the end, and those at the beginning go.
  networks.delete(network);
  networks.add(network);
  if (networks.size > MAX_FAMILIAR) networks.delete(networks.values().next().value!);
  familiar.set(account, networks);
}

/** A proof, for a browser to keep, that it has logged in to the account: nothing else can be done with it. */
export function newDevice(app: App, email: string): string {
  const nonce = randomText(16);
  return `${nonce}.${proofOf(app, email, nonce)}`;
}

function isDeviceOf(app: App, email: string, device: string): boolean {
  const [nonce = "", proof = ""] = device.split(".");
  const expected = Buffer.from(proofOf(app, email, nonce));
  const given = Buffer.from(proof);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function proofOf(app: App, email: string, nonce: string): string {
  return createHmac("sha256", app.instanceKey).update(`device\n${email}\n${nonce}`).digest("hex");
}
