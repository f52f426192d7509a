import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BadRequest, Internal } from "../errors.ts";

/**
 * Requires that the instance key is configured or stored already.
 * @throws BadRequest if there is no instance key: a new one could not decrypt the other servers' secrets
 */
export function requireSharedInstanceKey(data_dir: string, secret_key: string | undefined): void {
  const path = join(data_dir, "instance.key");
  if (secret_key || existsSync(path)) return;
  throw new BadRequest("a worker needs the instance key of the servers whose jobs it runs, and has none", {
    hint: `set SVC_SECRET_KEY as it is set for them, or copy their instance.key to ${path}`,
  });
}

/**
 * Mode bits that must not be set: on our own key file, and on someone else's, which our group may read (a mounted
 * secret).
 */
const GROUP_AND_OTHERS = 0o077;
const GROUP_WRITE_AND_OTHERS = 0o037;

/**
 * Restricts the key file to the server's user.
 * @returns a warning for the operator if others could read it; undefined otherwise
 * @throws BadRequest if others can read it and the file is not ours to change
 */
export function protectInstanceKey(data_dir: string, secret_key: string | undefined): string | undefined {
  const path = join(data_dir, "instance.key");
  const stats = secret_key ? undefined : statSync(path, { throwIfNoEntry: false });
  const me = process.geteuid?.();
  if (!stats || me === undefined) return undefined;
  const isOurs = me === 0 || stats.uid === me;
  if ((stats.mode & (isOurs ? GROUP_AND_OTHERS : GROUP_WRITE_AND_OTHERS)) === 0) return undefined;
  const mode = (stats.mode & 0o777).toString(8);
  if (!isOurs) {
    throw new BadRequest(
      `other users can read the instance key at ${path} (mode ${mode}), so it is not used`,
      {
        hint: `chmod 600 ${path} as its owner; exchange the stored secrets if others use this machine`,
      },
    );
  }
  chmodSync(path, 0o600);
  return describeExposedKey(path, stats.mode);
}

/** Returns the warning about a key that others could read. @param mode the mode it was found with */
export function describeExposedKey(path: string, mode: number): string {
  const found = (mode & 0o777).toString(8);
  return `other users of this machine could read the instance key at ${path} (mode ${found}); it is closed to them again, but it may have leaked: exchange the stored secrets if others use this machine`;
}

/**
 * Loads the key that encrypts the workspaces' keys, 32 bytes: derived from the setting, or else from a file in the data
 * directory (mode 0600, created on first start). A copied database is useless without it.
 */
export function loadInstanceKey(data_dir: string, secret_key: string | undefined): Uint8Array {
  if (secret_key) return new Bun.CryptoHasher("sha256").update(secret_key).digest();
  const path = join(data_dir, "instance.key");
  if (!existsSync(path)) {
    mkdirSync(data_dir, { recursive: true, mode: 0o700 });
    writeFileSync(path, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  }
  const key = Buffer.from(readFileSync(path, "utf8").trim(), "base64");
  if (key.length !== 32) {
    throw new Internal(`${path} does not hold a key of 32 bytes in base64`, {
      hint: "restore the file from a backup: without it the stored secrets cannot be read",
    });
  }
  return key;
}
