import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BadRequest, Internal } from "../errors.ts";

/** @throws BadRequest when the key that others share is not there: one that is made here would open nothing of theirs */
export function needInstanceKey(data_dir: string, secret_key: string | undefined): void {
  const path = join(data_dir, "instance.key");
  if (secret_key || existsSync(path)) return;
  throw new BadRequest("a worker needs the instance key of the servers whose jobs it runs, and has none", {
    hint: `set SVC_SECRET_KEY as it is set for them, or put their instance.key at ${path}`,
  });
}

/** What nobody but its owner may do with the file; who is in its group may read one that is not ours (a mounted secret). */
const FOR_OTHERS = 0o077;
const FOR_STRANGERS = 0o037;

/**
 * Keeps the file with the key to the server's user.
 * @returns what to tell the operator when others could read it until now; undefined when they could not
 * @throws BadRequest when they can and the file is not ours to close
 */
export function closeInstanceKey(data_dir: string, secret_key: string | undefined): string | undefined {
  const path = join(data_dir, "instance.key");
  const stats = secret_key ? undefined : statSync(path, { throwIfNoEntry: false });
  const me = process.geteuid?.();
  if (!stats || me === undefined) return undefined;
  const isOurs = me === 0 || stats.uid === me;
  if ((stats.mode & (isOurs ? FOR_OTHERS : FOR_STRANGERS)) === 0) return undefined;
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
  return exposedKey(path, stats.mode);
}

/** What to tell the operator of a key that others could read. @param mode that it was found with */
export function exposedKey(path: string, mode: number): string {
  const found = (mode & 0o777).toString(8);
  return `other users of this machine could read the instance key at ${path} (mode ${found}); it is closed to them again, but it may have leaked: exchange the stored secrets if others use this machine`;
}

/**
 * The key that wraps the workspaces' keys, 32 bytes: of the setting when there is one, else of a file in the data
 * directory (mode 0600, made at the first start). A copied database alone gives nothing away.
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
