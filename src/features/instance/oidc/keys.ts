/**
 * The keys of identity tokens, changed by themselves and with overlap, since whoever checks tokens keeps the keys it has
 * read for a while: a new key is shown for LEAD_MS before it signs, and an old one for as long as a token that it has
 * signed may hold. All follows from when each key was made, so several servers agree without talking.
 */
import { asc, inArray } from "drizzle-orm";
import type { CryptoKey, JWK } from "jose";
import type { Reader, Tx } from "../../../database/database.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { seal, unseal } from "../../../lib/crypto/seal.ts";
import { randomText } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { oidcKeys } from "./tables.ts";

/** What the setting `oidc_token_algorithm` may say: RSA, or Ed25519 (RFC 8037). */
export type Algorithm = "RS256" | "EdDSA";
const MODULUS_BITS = 2048;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long verifiers may keep what they have read, as the answer's cache-control tells them. */
export const SHOWN_MS = HOUR_MS;
/** For this long a new key is shown before it signs: longer than anybody keeps the keys without it. */
const LEAD_MS = 2 * SHOWN_MS;
const ROTATE_MS = 30 * DAY_MS;
/** The longest a token may hold. */
export const LONGEST_MS = DAY_MS;
/** Another server may have made a key: what is remembered is asked for again after this. */
const FRESH_MS = 60_000;

type Row = typeof oidcKeys.$inferSelect;

interface SigningKey {
  kid: string;
  algorithm: Algorithm;
  key: CryptoKey;
}

interface Known {
  rows: Row[];
  /** Milliseconds of the app's clock. */
  until: number;
}

const known = perApp<App, { keys: Promise<Known> | undefined; signing: SigningKey | undefined }>(() => ({
  keys: undefined,
  signing: undefined,
}));

/** What tokens can be checked with now. @returns public keys (RFC 7517), none of which holds anything secret */
export async function publicKeys(app: App): Promise<JWK[]> {
  return (await currentKeys(app)).map(({ public_jwk }) => public_jwk);
}

/** The key that signs now. When another algorithm is set, one of the last goes on until the new key has been shown. */
export async function signingKey(app: App): Promise<SigningKey> {
  const rows = await currentKeys(app);
  const before = app.clock().getTime() - LEAD_MS;
  const shown = rows.filter(({ created_at }) => created_at.getTime() <= before);
  // A key that has to be the first is used at once: nobody has read the keys without it.
  const row = shown.findLast((each) => isWanted(app, each)) ?? shown.at(-1) ?? rows[0]!;
  const cache = known(app);
  if (cache.signing?.kid !== row.kid) {
    const { importPKCS8 } = await import("jose");
    const algorithm = algorithmOf(row);
    cache.signing = { kid: row.kid, algorithm, key: await importPKCS8(open(app, row)!, algorithm) };
  }
  return cache.signing;
}

function algorithmOf({ public_jwk }: Row): Algorithm {
  return public_jwk.alg as Algorithm;
}

function isWanted(app: App, row: Row): boolean {
  return algorithmOf(row) === app.settings.get("oidc_token_algorithm");
}

async function currentKeys(app: App): Promise<Row[]> {
  const cache = known(app);
  const now = app.clock().getTime();
  const last = await cache.keys?.catch(() => undefined);
  if (last && last.until > now) return last.rows;
  const keys = read(app).then((rows) => ({ rows, until: now + FRESH_MS }));
  cache.keys = keys;
  return (await keys).rows;
}

/** Reads the keys, oldest first, after a change where one is due. */
async function read(app: App): Promise<Row[]> {
  const rows = await usableKeys(app, app.db.read);
  return isSettled(app, rows) ? rows : rotate(app);
}

/** Those that this instance's key opens: of a database from elsewhere the others are of no use here. */
async function usableKeys(app: App, db: Reader): Promise<Row[]> {
  const rows = await db.select().from(oidcKeys).orderBy(asc(oidcKeys.created_at), asc(oidcKeys.kid));
  return rows.filter((row) => open(app, row) !== undefined);
}

function open(app: App, { kid, sealed_key }: Row): string | undefined {
  return unseal(app.instanceKey, sealed_key, `oidc key ${kid}`);
}

function isSettled(app: App, rows: Row[]): boolean {
  return !isNewDue(app, rows) && overdue(app, rows).length === 0;
}

function isNewDue(app: App, rows: Row[]): boolean {
  const newest = rows.findLast((row) => isWanted(app, row));
  return !newest || newest.created_at.getTime() <= app.clock().getTime() - ROTATE_MS;
}

/** Keys that have not signed for longer than any token of theirs may hold. */
function overdue(app: App, rows: Row[]): Row[] {
  const before = app.clock().getTime() - LEAD_MS - LONGEST_MS - SHOWN_MS;
  return rows.filter((row, at) => {
    const successor = rows.slice(at + 1).find((later) => algorithmOf(later) === algorithmOf(row));
    if (successor) return successor.created_at.getTime() <= before;
    // Of an algorithm that is no longer set: had it been at that time, there would be a successor.
    return !isWanted(app, row) && row.created_at.getTime() + ROTATE_MS <= before;
  });
}

/** Of several servers one changes the keys; the others read what it has made. */
async function rotate(app: App): Promise<Row[]> {
  const algorithm = app.settings.get("oidc_token_algorithm");
  const { pem, public_jwk } = await newPair(algorithm);
  return app.db.write(async (tx) => {
    await tx.lock("oidc keys");
    const rows = await usableKeys(app, tx);
    if (isNewDue(app, rows)) rows.push(await store(app, tx, pem, public_jwk));
    const gone = overdue(app, rows);
    if (gone.length > 0) {
      const kids = gone.map(({ kid }) => kid);
      await tx.delete(oidcKeys).where(inArray(oidcKeys.kid, kids));
    }
    return rows.filter((row) => !gone.includes(row));
  });
}

async function newPair(algorithm: Algorithm): Promise<{ pem: string; public_jwk: JWK }> {
  const { exportJWK, exportPKCS8, generateKeyPair } = await import("jose");
  const pair = await generateKeyPair(algorithm, { modulusLength: MODULUS_BITS, extractable: true });
  const public_jwk = { ...(await exportJWK(pair.publicKey)), alg: algorithm };
  return { pem: await exportPKCS8(pair.privateKey), public_jwk };
}

async function store(app: App, tx: Tx, pem: string, jwk: JWK): Promise<Row> {
  const kid = randomText(16);
  const row = {
    kid,
    public_jwk: { ...jwk, kid, use: "sig" },
    sealed_key: seal(app.instanceKey, pem, `oidc key ${kid}`),
    created_at: app.clock(),
  };
  await tx.insert(oidcKeys).values(row);
  return row;
}
