/**
 * Secrets at rest. Each workspace has a key of its own; what is stored of that key is wrapped by the instance key, so
 * that a copied database alone gives nothing away. AES-256-GCM (NIST SP 800-38D): 12 bytes of nonce, the ciphertext,
 * 16 bytes of tag. The workspace's id is bound in as associated data.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import type { App } from "../../context.ts";
import type { Reader } from "../../database/database.ts";
import { BadRequest, Internal, NotFound } from "../../errors.ts";
import { randomText } from "../../lib/ids.ts";
import { perApp } from "../../lib/per-app.ts";
import { workspaces } from "./tables.ts";

const NONCE = 12;
const TAG = 16;
/** Says how a text was encrypted, so that a later scheme can be told from this one. */
const SCHEME = "v1:";

/** @param bound what the text is for: it opens for nothing else */
export function seal(key: Uint8Array, plain: string, bound: string): string {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(bound));
  const sealed = Buffer.concat([nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return SCHEME + sealed.toString("base64");
}

/** Undefined when the text was not sealed with this key for this purpose. */
export function unseal(key: Uint8Array, text: string, bound: string): string | undefined {
  if (!text.startsWith(SCHEME)) return undefined;
  const sealed = Buffer.from(text.slice(SCHEME.length), "base64");
  if (sealed.length < NONCE + TAG) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE));
  decipher.setAAD(Buffer.from(bound));
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG));
  try {
    return (
      decipher.update(sealed.subarray(NONCE, sealed.length - TAG), undefined, "utf8") + decipher.final("utf8")
    );
  } catch {
    return undefined;
  }
}

interface WorkspaceKey {
  /** As existing clients exchange it. */
  text: string;
  /** 32 bytes, for AES-256. */
  bytes: Uint8Array;
}

const keysOf = perApp<App, Map<string, WorkspaceKey>>(() => new Map());

/** A new workspace key: 64 characters, as existing clients exchange it. */
export function newWorkspaceKey(app: App, workspace_id: string): { wrapped_key: string } {
  return { wrapped_key: seal(app.instanceKey, randomText(64), `workspace key ${workspace_id}`) };
}

async function keyOf(app: App, db: Reader, workspace_id: string): Promise<WorkspaceKey> {
  const known = keysOf(app).get(workspace_id);
  if (known) return known;
  const [row] = await db
    .select({ wrapped_key: workspaces.wrapped_key })
    .from(workspaces)
    .where(eq(workspaces.id, workspace_id));
  if (!row) throw new NotFound(`workspace ${workspace_id}`);
  const text = unseal(app.instanceKey, row.wrapped_key, `workspace key ${workspace_id}`);
  if (text === undefined) {
    throw new Internal(
      `the key of workspace ${workspace_id} cannot be unwrapped: the instance key is another one`,
      {
        hint: "start the server with the instance.key or SVC_SECRET_KEY that this database was made with",
      },
    );
  }
  const key = { text, bytes: new Uint8Array(createHash("sha256").update(text).digest()) };
  keysOf(app).set(workspace_id, key);
  return key;
}

/** @returns text that only this workspace's key opens */
export async function encryptSecret(
  app: App,
  db: Reader,
  workspace_id: string,
  plain: string,
): Promise<string> {
  return seal((await keyOf(app, db, workspace_id)).bytes, plain, workspace_id);
}

/** @throws BadRequest when the text was encrypted for another workspace, or not by this service */
export async function decryptSecret(
  app: App,
  db: Reader,
  workspace_id: string,
  text: string,
): Promise<string> {
  const plain = unseal((await keyOf(app, db, workspace_id)).bytes, text, workspace_id);
  if (plain === undefined) {
    throw new BadRequest(`the encrypted value cannot be read with the key of workspace ${workspace_id}`);
  }
  return plain;
}

/**
 * HMAC-SHA256 (RFC 2104) over the pieces, keyed with the text of the workspace's key.
 * @throws NotFound for an unknown workspace
 */
export async function workspaceHmac(
  app: App,
  db: Reader,
  workspace_id: string,
  pieces: readonly (string | Uint8Array)[],
): Promise<Buffer> {
  const hmac = createHmac("sha256", (await keyOf(app, db, workspace_id)).text);
  for (const piece of pieces) hmac.update(piece);
  return hmac.digest();
}
