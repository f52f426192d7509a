/** The text of a workspace's key, as clients exchange it, and the bytes that seal with it. */
import { createHash, type ScryptOptions, scrypt } from "node:crypto";
import { promisify } from "node:util";
import { perApp } from "../../../lib/async/per-app.ts";
import { BadRequest } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";

/** Of a key that is made here. */
export const KEY_LENGTH = 64;

/** Longer ones are refused: stretching them is work. */
const MAX_KEY_LENGTH = 1_000;

/**
 * Any text can be a key. One of 64 characters, as they are made here, is as good as it looks; others are stretched.
 * @throws BadRequest for an empty text or one beyond measure
 */
export function checkKey(text: string): string {
  if (text !== "" && text.length <= MAX_KEY_LENGTH) return text;
  throw new BadRequest(
    `body field \`new_key\`: must have 1 to ${MAX_KEY_LENGTH} characters; \`openssl rand -hex 32\` prints a good one`,
  );
}

/** OWASP's choice of scrypt for 16 MiB. It takes long, so it is done once for each text, and beside other work. */
const SCRYPT = { N: 2 ** 14, r: 8, p: 5, maxmem: 2 ** 26 };
const MAX_STRETCHED = 1_000;

const stretch = promisify<string, string, number, ScryptOptions, Buffer>(scrypt);
const stretched = perApp<App, Map<string, Promise<Uint8Array>>>(() => new Map());

/** 32 bytes for AES-256. One salt for all: a text is the same key in every workspace that it is given to. */
export async function bytesOf(app: App, text: string): Promise<Uint8Array> {
  const digest = createHash("sha256").update(text).digest();
  if (/^[\x21-\x7e]+$/.test(text) && text.length === KEY_LENGTH) return new Uint8Array(digest);
  const known = stretched(app);
  const name = digest.toString("hex");
  let bytes = known.get(name);
  if (!bytes) {
    bytes = stretch(text, "svc workspace key", 32, SCRYPT).then((made) => new Uint8Array(made));
    if (known.size >= MAX_STRETCHED) known.clear();
    known.set(name, bytes);
  }
  return bytes;
}
