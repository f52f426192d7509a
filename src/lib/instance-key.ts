import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
