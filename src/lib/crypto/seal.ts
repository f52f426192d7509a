/**
 * Authenticated encryption of texts: AES-256-GCM (NIST SP 800-38D), as 12 bytes of nonce, the ciphertext, 16 bytes of
 * tag. What a text is for is bound in as associated data.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const NONCE = 12;
const TAG = 16;
/** Says how a text was encrypted, so that a later scheme can be told from this one. */
export const SCHEME = "v1:";

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
