/**
 * Secrets at rest. Each workspace has a key of its own; what is stored of that key is wrapped by the instance key, so
 * that a copied database alone gives nothing away. The workspace's id is bound to each text as associated data.
 */
import { createHmac, hkdfSync } from "node:crypto";
import { eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { SCHEME, seal, unseal } from "../../../lib/crypto/seal.ts";
import { BadRequest, Internal, NotFound } from "../../../lib/errors.ts";
import { randomText } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { forgottenEverywhere } from "../../../platform/cluster/cache-invalidation.ts";
import { unsealForeign } from "./foreign-secrets.ts";
import { bytesOf, KEY_LENGTH } from "./key-text.ts";
import { workspaces } from "./tables.ts";

/** The audit row of every reading of a secret in plain, whichever operation it is read by. */
export const SECRET_READ = { operation: "variables.decrypt_secret", action_kind: "Execute" } as const;

interface WorkspaceKey {
  /** As existing clients exchange it. */
  text: string;
  /** 32 bytes, for AES-256. */
  bytes: Uint8Array;
  /** As it is stored: another one whenever the key is another. */
  wrapped: string;
}

interface Remembered {
  current: WorkspaceKey;
  /** What was sealed before the last change of the key: somebody may have read it just before. */
  previous: WorkspaceKey | undefined;
  /** When that change was seen, in milliseconds since 1970. */
  changed_at: number;
  /** When it was read, in milliseconds since 1970. */
  at: number;
}

/** On PostgreSQL another process may have changed the key: what is remembered is asked for again after this. */
const FRESH_MS = 60_000;
/** Nothing is longer on its way from being sealed to being stored: after this a key that was exchanged is not tried. */
const ON_THE_WAY_MS = 600_000;

const keysOf = perApp<App, Map<string, Remembered>>(() => new Map());

/** Has every server ask for a workspace's key again; the one it knows stays at hand for what it has sealed. */
const askAgain = forgottenEverywhere<[workspace_id: string]>("key", {
  forget(app, workspace_id) {
    const known = keysOf(app).get(workspace_id);
    if (known) known.at = 0;
  },
  forgetAll(app) {
    for (const known of keysOf(app).values()) known.at = 0;
  },
});

/** Forgets what was remembered of a workspace's key: the workspace is gone. */
export function forgetKey(app: App, workspace_id: string): void {
  askAgain(app, workspace_id);
  keysOf(app).delete(workspace_id);
}

/** A new workspace key: 64 characters, as existing clients exchange it. */
export function newWorkspaceKey(app: App, workspace_id: string): { wrapped_key: string } {
  return { wrapped_key: wrapKey(app, workspace_id, randomText(KEY_LENGTH)) };
}

/** The text of a key as it is stored: it opens with the instance key alone, and for this workspace. */
export function wrapKey(app: App, workspace_id: string, text: string): string {
  return seal(app.instanceKey, text, `workspace key ${workspace_id}`);
}

async function readWrapped(db: Reader, workspace_id: string): Promise<string> {
  const [row] = await db
    .select({ wrapped_key: workspaces.wrapped_key })
    .from(workspaces)
    .where(eq(workspaces.id, workspace_id));
  if (!row) throw new NotFound(`workspace ${workspace_id}`);
  return row.wrapped_key;
}

async function unwrap(app: App, workspace_id: string, wrapped: string): Promise<WorkspaceKey> {
  const text = unseal(app.instanceKey, wrapped, `workspace key ${workspace_id}`);
  if (text === undefined) {
    throw new Internal(
      `the key of workspace ${workspace_id} cannot be unwrapped: the instance key is another one`,
      {
        hint: "start the server with the instance.key or SVC_SECRET_KEY that this database was made with",
      },
    );
  }
  return { text, bytes: await bytesOf(app, text), wrapped };
}

/**
 * Whether the instance key is the one that this database's workspaces were made with, as far as there are any.
 * @throws Internal when it is another one: no secret could be read, and jobs would fail
 */
export async function checkInstanceKey(app: App): Promise<void> {
  const [row] = await app.db.read
    .select({ id: workspaces.id, wrapped_key: workspaces.wrapped_key })
    .from(workspaces)
    .orderBy(workspaces.id)
    .limit(1);
  if (row) await unwrap(app, row.id, row.wrapped_key);
}

/** The key as the database has it now. */
export async function currentKey(app: App, db: Reader, workspace_id: string): Promise<WorkspaceKey> {
  const wrapped = await readWrapped(db, workspace_id);
  const known = keysOf(app).get(workspace_id);
  if (known?.current.wrapped === wrapped) return known.current;
  return unwrap(app, workspace_id, wrapped);
}

/** Remembers a key that is committed. The one before serves for what was read while it was changed. */
function remember(app: App, workspace_id: string, current: WorkspaceKey): WorkspaceKey {
  const before = keysOf(app).get(workspace_id);
  const at = Date.now();
  const isSame = before?.current.wrapped === current.wrapped;
  const { previous, changed_at } = isSame ? before! : { previous: before?.current, changed_at: at };
  keysOf(app).set(workspace_id, { current, previous, changed_at, at });
  return current;
}

/** Reads the key anew. What a transaction sees that is not committed is not remembered. */
async function loadKey(app: App, workspace_id: string): Promise<WorkspaceKey> {
  return remember(app, workspace_id, await currentKey(app, app.db.read, workspace_id));
}

async function keyOf(app: App, workspace_id: string): Promise<WorkspaceKey> {
  const known = keysOf(app).get(workspace_id);
  const isFresh = known && (app.db.dialect === "sqlite" || Date.now() - known.at < FRESH_MS);
  return isFresh ? known.current : loadKey(app, workspace_id);
}

function isTx(db: Reader): db is Tx {
  return "lock" in db;
}

/** Nobody changes the key until the transaction ends: what it seals, and the change of a key, come one after the other. */
export function lockKey(tx: Tx, workspace_id: string): Promise<void> {
  return tx.lock(`key of workspace ${workspace_id}`);
}

function boundTo(workspace_id: string, purpose: string | undefined): string {
  return purpose === undefined ? workspace_id : `${workspace_id} ${purpose}`;
}

/**
 * @param db the transaction that stores the text, so that it is sealed with the key that holds when it is committed.
 * Sealed outside of one, with the key as it is committed now, it may be stale when it is stored: see `renewing`.
 * @param purpose what the text is for, where it is no variable: it opens for this alone
 * @returns text that only this workspace's key opens
 */
export async function encryptSecret(
  app: App,
  db: Reader,
  workspace_id: string,
  plain: string,
  purpose?: string,
): Promise<string> {
  if (isTx(db)) await lockKey(db, workspace_id);
  const key = isTx(db) ? await currentKey(app, db, workspace_id) : await loadKey(app, workspace_id);
  return seal(key.bytes, plain, boundTo(workspace_id, purpose));
}

/** What a job's argument is sealed for: nobody else who sees it may have it opened by a job of their own. */
export const argumentOf = (email: string) => `argument of ${email}`;

/** @throws BadRequest when the text was encrypted for another workspace or purpose, or not by this service */
export async function decryptSecret(
  app: App,
  db: Reader,
  workspace_id: string,
  text: string,
  purpose?: string,
): Promise<string> {
  const bound = boundTo(workspace_id, purpose);
  const opened = await tryKeys(app, db, workspace_id, (key) => unseal(key.bytes, text, bound));
  if (opened !== undefined) return opened;
  throw new BadRequest(`the encrypted value cannot be read with the key of workspace ${workspace_id}`);
}

/**
 * The plain text of a stored secret, which may have come with the key that another service sealed it with. Undefined:
 * no key of this workspace opens it.
 */
export function openSecret(
  app: App,
  db: Reader,
  workspace_id: string,
  text: string,
): Promise<string | undefined> {
  return tryKeys(app, db, workspace_id, (key) => openedWith(key, text, workspace_id));
}

function openedWith(key: WorkspaceKey, text: string, workspace_id: string): string | undefined {
  return text.startsWith(SCHEME) ? unseal(key.bytes, text, workspace_id) : unsealForeign(key.text, text);
}

/** What `open` makes of the first key that it makes something of: those that are known, then the one that is stored. */
async function tryKeys(
  app: App,
  db: Reader,
  workspace_id: string,
  attempt: (key: WorkspaceKey) => string | undefined,
): Promise<string | undefined> {
  const open = (key: WorkspaceKey | undefined) => key && attempt(key);
  const known = keysOf(app).get(workspace_id);
  const plain = open(known?.current) ?? open(known?.previous);
  if (plain !== undefined) return plain;
  // Another server may have changed the key, or this transaction follows on the one that did.
  const stored = isTx(db) ? await currentKey(app, db, workspace_id) : await loadKey(app, workspace_id);
  return open(stored);
}

/**
 * What seals texts with the key that holds now which were sealed with one that was exchanged since, and returns all others
 * as they are. In the transaction that stores them nobody exchanges the key any more. However many texts there are, the
 * key is asked for once: requests may bring any number of them.
 */
export async function renewing(
  app: App,
  db: Reader,
  workspace_id: string,
): Promise<(text: string, email: string) => string> {
  const known = keysOf(app).get(workspace_id);
  if (isTx(db)) await lockKey(db, workspace_id);
  const key = await currentKey(app, db, workspace_id);
  const isRecent = known && Date.now() - known.changed_at < ON_THE_WAY_MS;
  const exchanged = [known?.current, isRecent ? known.previous : undefined].flatMap((old) =>
    old && old.wrapped !== key.wrapped ? [old.bytes] : [],
  );
  return (text, email) => {
    for (const old of exchanged) {
      for (const purpose of [argumentOf(email), undefined]) {
        const plain = unseal(old, text, boundTo(workspace_id, purpose));
        if (plain !== undefined) return seal(key.bytes, plain, boundTo(workspace_id, purpose));
      }
    }
    return text;
  };
}

/** What a text sealed for one workspace and key is when it is sealed for another. Undefined: it does not open. */
export function resealed(
  text: string,
  from: { key: WorkspaceKey; workspace_id: string },
  to: { key: WorkspaceKey; workspace_id: string },
  purpose?: string,
): string | undefined {
  const plain =
    purpose === undefined
      ? openedWith(from.key, text, from.workspace_id)
      : unseal(from.key.bytes, text, boundTo(from.workspace_id, purpose));
  return plain === undefined ? undefined : seal(to.key.bytes, plain, boundTo(to.workspace_id, purpose));
}

/** A key out of its text, as it will be stored for this workspace. */
export function keyFrom(app: App, workspace_id: string, text: string): Promise<WorkspaceKey> {
  return unwrap(app, workspace_id, wrapKey(app, workspace_id, text));
}

/** Called after the commit of a new key. @param keep whether what the one before has sealed may still be on the way */
export function keyChanged(
  app: App,
  workspace_id: string,
  key: WorkspaceKey,
  { keep }: { keep: boolean },
): void {
  askAgain(app, workspace_id);
  remember(app, workspace_id, key);
  if (!keep) keysOf(app).get(workspace_id)!.previous = undefined;
}

/** What texts are signed for; each has a key of its own, so that no signature says anything elsewhere. */
export type SigningPurpose = "approval" | "stored file" | "public app";

/**
 * HMAC-SHA256 (RFC 2104) over the pieces, with a key derived from the workspace's for this purpose alone (HKDF-SHA256,
 * RFC 5869).
 * @throws NotFound for an unknown workspace
 */
export async function workspaceHmac(
  app: App,
  workspace_id: string,
  purpose: SigningPurpose,
  pieces: readonly (string | Uint8Array)[],
): Promise<Buffer> {
  const { bytes } = await keyOf(app, workspace_id);
  const key = hkdfSync("sha256", bytes, workspace_id, `svc signing ${purpose}`, 32);
  const hmac = createHmac("sha256", Buffer.from(key));
  for (const piece of pieces) hmac.update(piece);
  return hmac.digest();
}
