import { randomBytes } from "node:crypto";
import { chmod, lstat, readdir, rename, rm } from "node:fs/promises";
import { joinPathBytes } from "../sandbox/watch/path-bytes.ts";

/** The system limits paths to 4,096 bytes and names to 255. */
const LONG_PATH_BYTES = 3_000;

/**
 * Removes a folder completely, including subfolders without access rights, non-UTF-8 names, and paths beyond the
 * system's limit.
 */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    await grantAccess(Buffer.from(folder));
    await rm(folder, { recursive: true, force: true });
  }
}

/** Grants access to a folder and its subfolders, without following links. */
async function grantAccess(folder: Buffer): Promise<void> {
  const folders = [folder];
  for (let path = folders.pop(); path; path = folders.pop()) {
    await chmod(path, 0o700).catch(() => {});
    for (const name of await readdir(path, { encoding: "buffer" }).catch(() => [])) {
      const inner = joinPathBytes(path, name);
      const stats = await lstat(inner).catch(() => undefined);
      if (stats?.isDirectory())
        folders.push(inner.length < LONG_PATH_BYTES ? inner : await moveUp(inner, folder));
    }
  }
}

/** Moves a folder whose path is almost too long directly below the top folder. */
async function moveUp(path: Buffer, top: Buffer): Promise<Buffer> {
  const place = joinPathBytes(top, Buffer.from(randomBytes(16).toString("hex")));
  await chmod(path, 0o700).catch(() => {});
  return rename(path, place).then(
    () => place,
    () => path,
  );
}
