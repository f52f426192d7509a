/** Derives the 32 key bytes of a workspace from the key text that clients exchange. */
import { createHash, type ScryptOptions, scrypt } from "node:crypto";
import { promisify } from "node:util";
import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { BadRequest } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";

/** Characters of a generated key. */
export const KEY_TEXT_CHARS = 64;

/** Longer texts are refused, since deriving a key from them costs CPU time. */
const MAX_KEY_TEXT_CHARS = 1_000;

/**
 * Validates a key text. Any text is accepted; texts that do not look like a generated key are stretched with scrypt.
 * @throws BadRequest for an empty or too long text
 */
export function parseKeyText(text: string): string {
  if (text !== "" && text.length <= MAX_KEY_TEXT_CHARS) return text;
  throw new BadRequest(
    `body field \`new_key\`: must have 1 to ${MAX_KEY_TEXT_CHARS} characters; \`openssl rand -hex 32\` generates one`,
  );
}

/**
 * OWASP's parameters for scrypt with 16 MiB. Deriving is slow, so results are cached, and it runs off the main thread.
 */
const SCRYPT_OPTIONS = { N: 2 ** 14, r: 8, p: 5, maxmem: 2 ** 26 };
const MAX_CACHED_KEYS = 1_000;

const deriveKey = promisify<string, string, number, ScryptOptions, Buffer>(scrypt);
const derivedKeys = memoizePerApp((_: App) => new Cache<Uint8Array>({ max: MAX_CACHED_KEYS }));

/** Returns 32 bytes for AES-256. The salt is constant: the same text yields the same key in every workspace. */
export async function deriveKeyBytes(app: App, text: string): Promise<Uint8Array> {
  const digest = createHash("sha256").update(text).digest();
  if (/^[\x21-\x7e]+$/.test(text) && text.length === KEY_TEXT_CHARS) return new Uint8Array(digest);
  const cache = derivedKeys(app);
  const name = digest.toString("hex");
  const derive = async () => new Uint8Array(await deriveKey(text, "svc workspace key", 32, SCRYPT_OPTIONS));
  return cache.get(name) ?? cache.load(name, derive);
}
