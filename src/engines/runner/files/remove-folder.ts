import { randomBytes } from "node:crypto";
import { chmod, lstat, readdir, rename, rm } from "node:fs/promises";
import { within } from "../sandbox/watch/path-bytes.ts";

/** The system takes paths of up to 4,096 bytes, and names of up to 255. */
const LONG_PATH = 3_000;

/**
 * Removes a folder with everything in it, also what its maker has closed to its own user, under names that are no text
 * and deeper than a path can be long.
 */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    await open(Buffer.from(folder));
    await rm(folder, { recursive: true, force: true });
  }
}

/** Lets the user into a folder again, and into those in it; links are not followed. */
async function open(folder: Buffer): Promise<void> {
  const folders = [folder];
  for (let path = folders.pop(); path; path = folders.pop()) {
    await chmod(path, 0o700).catch(() => {});
    for (const name of await readdir(path, { encoding: "buffer" }).catch(() => [])) {
      const inner = within(path, name);
      const stats = await lstat(inner).catch(() => undefined);
      if (stats?.isDirectory()) folders.push(inner.length < LONG_PATH ? inner : await raised(inner, folder));
    }
  }
}

/** Brings a folder that is almost too deep to be named right below the one that is removed. */
async function raised(path: Buffer, top: Buffer): Promise<Buffer> {
  const place = within(top, Buffer.from(randomBytes(16).toString("hex")));
  await chmod(path, 0o700).catch(() => {});
  return rename(path, place).then(
    () => place,
    () => path,
  );
}
