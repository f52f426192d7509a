/** Password hashing with argon2id. */

import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { BadRequest } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";

/** OWASP's first recommendation for argon2id that suits a small server: 19 MiB, 2 passes. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

const MIN_PASSWORD_CHARS = 8;
/** Longer passwords are refused, since hashing them would let anybody cause load. */
const MAX_PASSWORD_CHARS = 1_000;

/** Hashes a password. @returns a PHC string; @throws BadRequest for a too short or too long password */
export function hashPassword(password: string, field = "password"): Promise<string> {
  if (password.length < MIN_PASSWORD_CHARS) {
    throw new BadRequest(`body field \`${field}\`: must have at least ${MIN_PASSWORD_CHARS} characters`);
  }
  if (password.length > MAX_PASSWORD_CHARS) {
    throw new BadRequest(`body field \`${field}\`: must have ${MAX_PASSWORD_CHARS} characters at most`);
  }
  return Bun.password.hash(password, ARGON2ID);
}

/** A hash that no password matches, so that refusing an unknown e-mail takes as long as a wrong password. */
const dummyHash = memoizePerApp<App, Promise<string>>(() => Bun.password.hash(crypto.randomUUID(), ARGON2ID));

/** Returns whether the password matches `hash`; takes the same time if `hash` is null. */
export async function verifyPassword(app: App, password: string, hash: string | null): Promise<boolean> {
  // Awaited for every login: otherwise the first unknown e-mail would take longer.
  const dummy = await dummyHash(app);
  const right = await Bun.password.verify(password.slice(0, MAX_PASSWORD_CHARS + 1), hash ?? dummy);
  return right && hash !== null;
}
