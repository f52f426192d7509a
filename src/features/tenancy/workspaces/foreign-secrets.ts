/**
 * Decrypts secrets that another service encrypted and that were imported with its key. New secrets never use this
 * format.
 */
import { createDecipheriv, createHash } from "node:crypto";

const BLOCK_BYTES = 16;

/**
 * Decrypts a MagicCrypt-256 text: AES-256-CBC with PKCS #7 padding and a zero IV; the key is the SHA-256 digest of the
 * key text; base64. The format has no authentication tag, so a wrong key is only detected by invalid padding or UTF-8.
 * @returns undefined if the text does not decrypt with this key
 */
export function decryptForeign(key: string, text: string): string | undefined {
  const sealed = Buffer.from(text, "base64");
  if (sealed.length === 0 || sealed.length % BLOCK_BYTES !== 0 || sealed.toString("base64") !== text) {
    return undefined;
  }
  const digest = createHash("sha256").update(key).digest();
  const decipher = createDecipheriv("aes-256-cbc", digest, Buffer.alloc(BLOCK_BYTES));
  try {
    const plain = Buffer.concat([decipher.update(sealed), decipher.final()]);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(plain);
  } catch {
    return undefined;
  }
}
