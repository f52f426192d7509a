/** File operations that are durable (fsynced) when they resolve. */
import { constants } from "node:fs";
import { mkdir, open, rename, rmdir } from "node:fs/promises";
import { dirname } from "node:path";

/** Returns undefined if the error means that the file does not exist; rethrows others. */
export function ignoreNotFound(cause: unknown): undefined {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== "ENOENT" && code !== "ENOTDIR" && code !== "ELOOP") throw cause;
}

/** Creates a file. @param mtime returns its modification time; now by default */
export async function writeFileDurably(
  path: string,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  mtime?: () => Date,
): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    for await (const piece of body) {
      for (let at = 0; at < piece.byteLength; ) {
        at += (await handle.write(piece, at, piece.byteLength - at)).bytesWritten;
      }
    }
    const moment = mtime?.();
    if (moment) await handle.utimes(moment, moment);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Moves a file to a path below `root`, creating missing folders. */
export async function moveFileDurably(root: string, from: string, to: string): Promise<void> {
  const folder = dirname(to);
  for (let tries = 0; ; tries++) {
    try {
      await createFolderDurably(folder);
      await rename(from, to);
      break;
    } catch (cause) {
      // Another deletion may have just removed the folder because it became empty.
      if ((cause as NodeJS.ErrnoException).code !== "ENOENT" || tries === 5) throw cause;
    }
  }
  // Syncs all parent folders, since another caller that created one may not have synced it yet.
  for (let at = folder; at.length >= root.length; at = dirname(at)) await syncFolder(at);
}

/** Creates a folder and its missing parents. */
export async function createFolderDurably(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY).catch(ignoreNotFound);
  await handle?.sync();
  await handle?.close();
}

/** Removes a folder and its parents up to `root`, as far as they are empty. */
export async function removeEmptyFolders(folder: string, root: string): Promise<void> {
  let at = folder;
  while (at !== root && (await tryRemoveFolder(at))) at = dirname(at);
  await syncFolder(at);
}

/** Removes a folder. @returns false if it is not empty */
function tryRemoveFolder(path: string): Promise<boolean> {
  return rmdir(path)
    .then(() => true)
    .catch(() => false);
}
