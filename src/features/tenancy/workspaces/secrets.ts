import { eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { decryptText, encryptText, SCHEME_PREFIX } from "../../../lib/crypto/seal.ts";
import { BadRequest, Internal, NotFound } from "../../../lib/errors.ts";
import { createRandomText } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { defineInvalidation } from "../../../platform/cluster/cache-invalidation.ts";
import { decryptForeign } from "./foreign-secrets.ts";
import { deriveKeyBytes, KEY_TEXT_CHARS } from "./key-text.ts";
import { workspaces } from "./tables.ts";

/** The audit entry of reading a secret, whichever operation reads it. */
export const SECRET_READ_AUDIT = { operation: "variables.decrypt_secret", action_kind: "Execute" } as const;

interface WorkspaceKey {
  /** The key text that existing clients exchange. */
  text: string;
  /** 32 bytes, for AES-256. */
  bytes: Uint8Array;
  /** The wrapped key as it is stored; it changes with every rotation. */
  wrapped: string;
}

interface CachedKeys {
  current: WorkspaceKey;
  /** The key before the last rotation, needed for texts that were read just before it. */
  previous: WorkspaceKey | undefined;
  /** When the rotation was seen, in milliseconds since 1970. */
  changed_at: number;
  /** When the key was last read, in milliseconds since 1970; 0 forces a reload. */
  at: number;
}

/** How long a key is cached on PostgreSQL, where another process may rotate it. */
const KEY_CACHE_TTL_MS = 60_000;
/** How long after a rotation the previous key is tried. No text is longer on its way from encryption to storage. */
const PREVIOUS_KEY_MS = 600_000;

const cachedKeys = memoizePerApp((_: App) => new Cache<CachedKeys>({ max: 10_000 }));

/** Makes every server reload a workspace's key. The cached key stays available for texts it encrypted. */
const expireKey = defineInvalidation<[workspace_id: string]>("key", {
  forget: requireReload,
  forgetAll(app) {
    for (const workspace_id of [...cachedKeys(app).keys()]) requireReload(app, workspace_id);
  },
});

function requireReload(app: App, workspace_id: string): void {
  const cache = cachedKeys(app);
  const known = cache.get(workspace_id);
  // Deleted first, so that a load that began before is not cached.
  cache.delete(workspace_id);
  if (known) cache.set(workspace_id, { ...known, at: 0 });
}

/** Drops the cached key of a workspace that was deleted or renamed. */
export function invalidateKey(app: App, workspace_id: string): void {
  expireKey(app, workspace_id);
  cachedKeys(app).delete(workspace_id);
}

/** Creates a workspace key: 64 characters, the form existing clients exchange. */
export function createWorkspaceKey(app: App, workspace_id: string): { wrapped_key: string } {
  return { wrapped_key: wrapKey(app, workspace_id, createRandomText(KEY_TEXT_CHARS)) };
}

/** Wraps a key text with the instance key; it can only be unwrapped for the same workspace. */
export function wrapKey(app: App, workspace_id: string, text: string): string {
  return encryptText(app.instanceKey, text, `workspace key ${workspace_id}`);
}

/** The key of a workspace, and the previous one as long as its values are being re-encrypted. */
interface StoredKeys {
  current: WorkspaceKey;
  previous: WorkspaceKey | undefined;
}

/** Returns the keys as stored in the database, as seen by `db`. */
export async function readStoredKeys(app: App, db: Reader, workspace_id: string): Promise<StoredKeys> {
  const [row] = await db
    .select({ wrapped: workspaces.wrapped_key, previous: workspaces.previous_wrapped_key })
    .from(workspaces)
    .where(eq(workspaces.id, workspace_id));
  if (!row) throw new NotFound(`workspace ${workspace_id}`);
  const known = cachedKeys(app).get(workspace_id);
  const unwrapped = (wrapped: string) =>
    [known?.current, known?.previous].find((key) => key?.wrapped === wrapped) ??
    unwrapKey(app, workspace_id, wrapped);
  return {
    current: await unwrapped(row.wrapped),
    previous: row.previous === null ? undefined : await unwrapped(row.previous),
  };
}

async function unwrapKey(app: App, workspace_id: string, wrapped: string): Promise<WorkspaceKey> {
  const text = decryptText(app.instanceKey, wrapped, `workspace key ${workspace_id}`);
  if (text === undefined) {
    throw new Internal(
      `the key of workspace ${workspace_id} cannot be unwrapped: the instance key is another one`,
      {
        hint: "start the server with the instance.key or SVC_SECRET_KEY that this database was made with",
      },
    );
  }
  return { text, bytes: await deriveKeyBytes(app, text), wrapped };
}

/**
 * Checks that the instance key unwraps the key of a workspace in this database; passes if there are no workspaces.
 * @throws Internal for another instance key: no secret could be read, and jobs would fail
 */
export async function requireInstanceKey(app: App): Promise<void> {
  const [row] = await app.db.read
    .select({ id: workspaces.id, wrapped_key: workspaces.wrapped_key })
    .from(workspaces)
    .orderBy(workspaces.id)
    .limit(1);
  if (row) await unwrapKey(app, row.id, row.wrapped_key);
}

/** Returns the key as stored in the database, as seen by `db`. */
export async function readCurrentKey(app: App, db: Reader, workspace_id: string): Promise<WorkspaceKey> {
  return (await readStoredKeys(app, db, workspace_id)).current;
}

/** Returns committed keys for the cache. After a rotation, the previous key is kept for texts read earlier. */
function toCached(app: App, workspace_id: string, { current, previous }: StoredKeys): CachedKeys {
  const before = cachedKeys(app).get(workspace_id);
  const at = Date.now();
  const isSame = before?.current.wrapped === current.wrapped;
  const kept = isSame ? before! : { previous: before?.current, changed_at: at };
  return { ...kept, previous: previous ?? kept.previous, current, at };
}

/** Reloads the key from committed data; a transaction's uncommitted key is never cached. */
async function loadKey(app: App, workspace_id: string): Promise<WorkspaceKey> {
  const read = () => readStoredKeys(app, app.db.read, workspace_id);
  const load = async () => toCached(app, workspace_id, await read());
  return (await cachedKeys(app).load(workspace_id, load)).current;
}

/** Returns the workspace's current key. @throws NotFound for an unknown workspace */
export async function getWorkspaceKey(app: App, workspace_id: string): Promise<WorkspaceKey> {
  const known = cachedKeys(app).get(workspace_id);
  const isFresh = known && (app.db.dialect === "sqlite" || Date.now() - known.at < KEY_CACHE_TTL_MS);
  return isFresh ? known.current : loadKey(app, workspace_id);
}

function isTransaction(db: Reader): db is Tx {
  return "lock" in db;
}

/** Locks the key until the end of the transaction, which serializes encryption for storage with key rotation. */
export function lockKey(tx: Tx, workspace_id: string): Promise<void> {
  return tx.lock(`key of workspace ${workspace_id}`);
}

function associatedData(workspace_id: string, purpose: string | undefined): string {
  return purpose === undefined ? workspace_id : `${workspace_id} ${purpose}`;
}

/**
 * Encrypts a secret with the workspace's key.
 * @param db the transaction that stores the text; the key then cannot be rotated before its commit. With a plain reader
 * the text may be stale when it is stored: see `createReencrypter`
 * @param purpose what the text is for, unless it is a variable; it can only be decrypted for the same purpose
 * @returns text that only this workspace's key decrypts
 */
export async function encryptSecret(
  app: App,
  db: Reader,
  workspace_id: string,
  plain: string,
  purpose?: string,
): Promise<string> {
  if (isTransaction(db)) await lockKey(db, workspace_id);
  const key = isTransaction(db)
    ? await readCurrentKey(app, db, workspace_id)
    : await loadKey(app, workspace_id);
  return encryptText(key.bytes, plain, associatedData(workspace_id, purpose));
}

/** Returns the purpose of an encrypted job argument: it names the user, so other users' jobs cannot decrypt it. */
export const createArgumentPurpose = (email: string) => `argument of ${email}`;

/** Decrypts a text. @throws BadRequest if it is of another workspace or purpose, or not encrypted by this service */
export async function decryptSecret(
  app: App,
  db: Reader,
  workspace_id: string,
  text: string,
  purpose?: string,
): Promise<string> {
  const bound = associatedData(workspace_id, purpose);
  const opened = await decryptWithAnyKey(app, db, workspace_id, (key) => decryptText(key.bytes, text, bound));
  if (opened !== undefined) return opened;
  throw new BadRequest(`the encrypted value cannot be read with the key of workspace ${workspace_id}`);
}

/** Returns the plain text of a stored secret, also one of another service; undefined if no key here decrypts it. */
export function decryptStoredSecret(
  app: App,
  db: Reader,
  workspace_id: string,
  text: string,
): Promise<string | undefined> {
  return decryptWithAnyKey(app, db, workspace_id, (key) => decryptWithKey(key, text, workspace_id));
}

function decryptWithKey(key: WorkspaceKey, text: string, workspace_id: string): string | undefined {
  return text.startsWith(SCHEME_PREFIX)
    ? decryptText(key.bytes, text, workspace_id)
    : decryptForeign(key.text, text);
}

/** Returns the first result of `attempt` with the cached keys, then with the stored one. */
async function decryptWithAnyKey(
  app: App,
  db: Reader,
  workspace_id: string,
  attempt: (key: WorkspaceKey) => string | undefined,
): Promise<string | undefined> {
  const open = (key: WorkspaceKey | undefined) => key && attempt(key);
  const known = cachedKeys(app).get(workspace_id);
  const plain = open(known?.current) ?? open(known?.previous);
  if (plain !== undefined) return plain;
  // Another server may have rotated the key, or this transaction did.
  const stored = await readStoredKeys(app, db, workspace_id);
  if (!isTransaction(db)) cachedKeys(app).set(workspace_id, toCached(app, workspace_id, stored));
  return open(stored.current) ?? open(stored.previous);
}

/**
 * Returns a function that re-encrypts texts from a rotated key with the current one, and returns all others unchanged.
 * In a transaction it locks the key. The key is read once, however many texts a request contains.
 */
export async function createReencrypter(
  app: App,
  db: Reader,
  workspace_id: string,
): Promise<(text: string, email: string) => string> {
  const known = cachedKeys(app).get(workspace_id);
  if (isTransaction(db)) await lockKey(db, workspace_id);
  const { current: key, previous } = await readStoredKeys(app, db, workspace_id);
  const isRecent = known && Date.now() - known.changed_at < PREVIOUS_KEY_MS;
  const exchanged = [known?.current, isRecent ? known.previous : undefined, previous].flatMap((old) =>
    old && old.wrapped !== key.wrapped ? [old.bytes] : [],
  );
  return (text, email) => {
    for (const old of exchanged) {
      for (const purpose of [createArgumentPurpose(email), undefined]) {
        const plain = decryptText(old, text, associatedData(workspace_id, purpose));
        if (plain !== undefined) return encryptText(key.bytes, plain, associatedData(workspace_id, purpose));
      }
    }
    return text;
  };
}

/** Re-encrypts a text for another workspace or key. Returns undefined if `from` does not decrypt it. */
export function reencryptText(
  text: string,
  from: { key: WorkspaceKey; workspace_id: string },
  to: { key: WorkspaceKey; workspace_id: string },
  purpose?: string,
): string | undefined {
  const plain =
    purpose === undefined
      ? decryptWithKey(from.key, text, from.workspace_id)
      : decryptText(from.key.bytes, text, associatedData(from.workspace_id, purpose));
  return plain === undefined
    ? undefined
    : encryptText(to.key.bytes, plain, associatedData(to.workspace_id, purpose));
}

/** Derives a key from its text, wrapped as it will be stored for this workspace. */
export function createKey(app: App, workspace_id: string, text: string): Promise<WorkspaceKey> {
  return unwrapKey(app, workspace_id, wrapKey(app, workspace_id, text));
}

/**
 * Activates a new key after its commit.
 * @param keep whether texts encrypted with the previous key may still arrive
 */
export function activateKey(
  app: App,
  workspace_id: string,
  key: WorkspaceKey,
  { keep }: { keep: boolean },
): void {
  expireKey(app, workspace_id);
  const keys = toCached(app, workspace_id, { current: key, previous: undefined });
  cachedKeys(app).set(workspace_id, keep ? keys : { ...keys, previous: undefined });
}
