import { randomBytes } from "node:crypto";

/** Creates a UUID version 7 (RFC 9562 §5.7): ordered by time, so that new rows are adjacent in an index. */
export function createUuid(): string {
  return Bun.randomUUIDv7();
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Creates random text of uniformly distributed letters and digits; 32 characters hold 190 bits. */
export function createRandomText(length: number): string {
  // Bytes from 248 on are discarded, because they would favour the first letters.
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % ALPHABET.length];
    }
  }
  return text;
}

/** Computes the SHA-256 digest as lower-case hex. */
export function sha256(text: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
