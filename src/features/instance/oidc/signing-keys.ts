/**
 * Signing keys of identity tokens, rotated automatically with overlap, because verifiers cache the public keys. A new
 * key is published for PUBLISH_BEFORE_USE_MS before it signs. An old one stays published as long as tokens it signed
 * may be valid. Everything follows from the creation times, so servers agree without coordination.
 */
import { asc, inArray } from "drizzle-orm";
import type { CryptoKey, JWK } from "jose";
import type { Reader, Tx } from "../../../database/database.ts";
import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { decryptText, encryptText } from "../../../lib/crypto/seal.ts";
import { createRandomText } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { oidcKeys } from "./tables.ts";

/** Values of the setting `oidc_token_algorithm`: RSA, or Ed25519 (RFC 8037). */
export type SigningAlgorithm = "RS256" | "EdDSA";
const MODULUS_BITS = 2048;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long verifiers may cache the public keys, sent as cache-control. */
export const KEYS_CACHE_MS = HOUR_MS;
/** How long a new key is published before it signs; longer than verifiers cache older key sets. */
const PUBLISH_BEFORE_USE_MS = 2 * KEYS_CACHE_MS;
const ROTATION_INTERVAL_MS = 30 * DAY_MS;
/** Upper limit of a token's lifetime. */
export const MAX_TOKEN_LIFETIME_MS = DAY_MS;
/** How long keys are cached here; another server may rotate them. */
const CACHE_TTL_MS = 60_000;

type KeyRow = typeof oidcKeys.$inferSelect;

interface SigningKey {
  kid: string;
  algorithm: SigningAlgorithm;
  key: CryptoKey;
}

const keyCache = memoizePerApp((app: App) => ({
  stored: new Cache<KeyRow[]>({ max: 1, ttl_ms: CACHE_TTL_MS, now: () => app.clock().getTime() }),
  /** By id of the key. */
  signing: new Cache<SigningKey>({ max: 1 }),
}));

/** Lists the keys that tokens can be verified with. @returns public keys (RFC 7517) */
export async function listPublicKeys(app: App): Promise<JWK[]> {
  return (await listKeys(app)).map(({ public_jwk }) => public_jwk);
}

/**
 * Returns the key that signs now. After a change of the algorithm, the previous key signs until the new one was
 * published long enough.
 */
export async function getSigningKey(app: App): Promise<SigningKey> {
  const rows = await listKeys(app);
  const before = app.clock().getTime() - PUBLISH_BEFORE_USE_MS;
  const shown = rows.filter(({ created_at }) => created_at.getTime() <= before);
  // The very first key signs at once: no verifier can have cached an older key set.
  const row = shown.findLast((each) => hasConfiguredAlgorithm(app, each)) ?? shown.at(-1) ?? rows[0]!;
  const { signing } = keyCache(app);
  return signing.get(row.kid) ?? signing.load(row.kid, () => importKey(app, row));
}

async function importKey(app: App, row: KeyRow): Promise<SigningKey> {
  const { importPKCS8 } = await import("jose");
  const algorithm = readAlgorithm(row);
  return { kid: row.kid, algorithm, key: await importPKCS8(decryptKey(app, row)!, algorithm) };
}

function readAlgorithm({ public_jwk }: KeyRow): SigningAlgorithm {
  return public_jwk.alg as SigningAlgorithm;
}

function hasConfiguredAlgorithm(app: App, row: KeyRow): boolean {
  return readAlgorithm(row) === app.settings.get("oidc_token_algorithm");
}

async function listKeys(app: App): Promise<KeyRow[]> {
  const { stored } = keyCache(app);
  return stored.get("keys") ?? stored.load("keys", () => readOrRotate(app));
}

/** Reads the keys, oldest first, and rotates them if that is due. */
async function readOrRotate(app: App): Promise<KeyRow[]> {
  const rows = await listUsableKeys(app, app.db.read);
  return isRotationDone(app, rows) ? rows : rotateKeys(app);
}

/** Lists the keys that the instance key decrypts; a copied database may contain others. */
async function listUsableKeys(app: App, db: Reader): Promise<KeyRow[]> {
  const rows = await db.select().from(oidcKeys).orderBy(asc(oidcKeys.created_at), asc(oidcKeys.kid));
  return rows.filter((row) => decryptKey(app, row) !== undefined);
}

function decryptKey(app: App, { kid, sealed_key }: KeyRow): string | undefined {
  return decryptText(app.instanceKey, sealed_key, `oidc key ${kid}`);
}

function isRotationDone(app: App, rows: KeyRow[]): boolean {
  return !isNewKeyDue(app, rows) && listExpiredKeys(app, rows).length === 0;
}

function isNewKeyDue(app: App, rows: KeyRow[]): boolean {
  const newest = rows.findLast((row) => hasConfiguredAlgorithm(app, row));
  return !newest || newest.created_at.getTime() <= app.clock().getTime() - ROTATION_INTERVAL_MS;
}

/** Lists keys whose last possible token has expired. */
function listExpiredKeys(app: App, rows: KeyRow[]): KeyRow[] {
  const before = app.clock().getTime() - PUBLISH_BEFORE_USE_MS - MAX_TOKEN_LIFETIME_MS - KEYS_CACHE_MS;
  return rows.filter((row, at) => {
    const successor = rows.slice(at + 1).find((later) => readAlgorithm(later) === readAlgorithm(row));
    if (successor) return successor.created_at.getTime() <= before;
    // Its algorithm is no longer configured; otherwise a newer key of that algorithm would exist.
    return !hasConfiguredAlgorithm(app, row) && row.created_at.getTime() + ROTATION_INTERVAL_MS <= before;
  });
}

/** Rotates the keys under a lock, so that one server does it and the others read the result. */
async function rotateKeys(app: App): Promise<KeyRow[]> {
  const algorithm = app.settings.get("oidc_token_algorithm");
  const { pem, public_jwk } = await createKeyPair(algorithm);
  return app.db.write(async (tx) => {
    await tx.lock("oidc keys");
    const rows = await listUsableKeys(app, tx);
    if (isNewKeyDue(app, rows)) rows.push(await storeKey(app, tx, pem, public_jwk));
    const gone = listExpiredKeys(app, rows);
    if (gone.length > 0) {
      const kids = gone.map(({ kid }) => kid);
      await tx.delete(oidcKeys).where(inArray(oidcKeys.kid, kids));
    }
    return rows.filter((row) => !gone.includes(row));
  });
}

async function createKeyPair(algorithm: SigningAlgorithm): Promise<{ pem: string; public_jwk: JWK }> {
  const { exportJWK, exportPKCS8, generateKeyPair } = await import("jose");
  const pair = await generateKeyPair(algorithm, { modulusLength: MODULUS_BITS, extractable: true });
  const public_jwk = { ...(await exportJWK(pair.publicKey)), alg: algorithm };
  return { pem: await exportPKCS8(pair.privateKey), public_jwk };
}

async function storeKey(app: App, tx: Tx, pem: string, jwk: JWK): Promise<KeyRow> {
  const kid = createRandomText(16);
  const row = {
    kid,
    public_jwk: { ...jwk, kid, use: "sig" },
    sealed_key: encryptText(app.instanceKey, pem, `oidc key ${kid}`),
    created_at: app.clock(),
  };
  await tx.insert(oidcKeys).values(row);
  return row;
}
