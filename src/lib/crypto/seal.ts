/**
 * Authenticated encryption of texts with AES-256-GCM (NIST SP 800-38D). A ciphertext consists of a 12-byte nonce, the
 * encrypted text and a 16-byte tag. The purpose of a text is bound to it as associated data.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Prefix that identifies the encryption scheme, so that a later one can be added. */
export const SCHEME_PREFIX = "v1:";

/** Encrypts a text. @param bound the associated data; decryption requires the same value */
export function encryptText(key: Uint8Array, plain: string, bound: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(bound));
  const sealed = Buffer.concat([nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return SCHEME_PREFIX + sealed.toString("base64");
}

/** Decrypts a text; undefined if it was encrypted with another key or for another purpose. */
export function decryptText(key: Uint8Array, text: string, bound: string): string | undefined {
  if (!text.startsWith(SCHEME_PREFIX)) return undefined;
  const sealed = Buffer.from(text.slice(SCHEME_PREFIX.length), "base64");
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES));
  decipher.setAAD(Buffer.from(bound));
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    return (
      decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES), undefined, "utf8") +
      decipher.final("utf8")
    );
  } catch {
    return undefined;
  }
}
