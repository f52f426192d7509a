/** Passwords are kept as argon2id hashes only. */

import { perApp } from "../../../lib/async/per-app.ts";
import { BadRequest } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";

/** OWASP's first recommendation for argon2id that a small server bears: 19 MiB, 2 passes. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

/** Longer ones are refused: hashing them is work that anybody could ask for. */
const MAX_LENGTH = 1_000;

/** @returns a PHC string; @throws BadRequest for an empty password or one beyond measure */
export function hashPassword(password: string): Promise<string> {
  if (password === "") throw new BadRequest("body field `password`: must not be empty");
  if (password.length > MAX_LENGTH) {
    throw new BadRequest(`body field \`password\`: must have ${MAX_LENGTH} characters at most`);
  }
  return Bun.password.hash(password, ARGON2ID);
}

/** A hash nobody has the password of: an unknown e-mail takes as long to refuse as a wrong password. */
const dummyHash = perApp<App, Promise<string>>(() => Bun.password.hash(crypto.randomUUID(), ARGON2ID));

/** Whether the password is the one of `hash`; takes as long when there is none. */
export async function isPassword(app: App, password: string, hash: string | null): Promise<boolean> {
  // Made for every first login, whoever's: else the first one at an unknown e-mail would take longer.
  const dummy = await dummyHash(app);
  const right = await Bun.password.verify(password.slice(0, MAX_LENGTH + 1), hash ?? dummy);
  return right && hash !== null;
}
