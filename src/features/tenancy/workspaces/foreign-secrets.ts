/** Secrets that another service sealed, and that came along with its key. They are read here, and never made. */
import { createDecipheriv, createHash } from "node:crypto";

const BLOCK = 16;

/**
 * Opens what MagicCrypt-256 has sealed: AES-256-CBC with PKCS #7 padding and an IV of zeros, the key the SHA-256 digest of
 * its text, in base64. Nothing in it proves that the key is right: what comes out must at least be UTF-8.
 * @returns undefined when the text was not sealed so with this key
 */
export function unsealForeign(key: string, text: string): string | undefined {
  const sealed = Buffer.from(text, "base64");
  if (sealed.length === 0 || sealed.length % BLOCK !== 0 || sealed.toString("base64") !== text) {
    return undefined;
  }
  const digest = createHash("sha256").update(key).digest();
  const decipher = createDecipheriv("aes-256-cbc", digest, Buffer.alloc(BLOCK));
  try {
    const plain = Buffer.concat([decipher.update(sealed), decipher.final()]);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(plain);
  } catch {
    return undefined;
  }
}
