/** Writing and removing files so that what was done is on the disk. */
import { constants } from "node:fs";
import { mkdir, open, rename, rmdir } from "node:fs/promises";
import { dirname } from "node:path";

/** Undefined for what is not there; any other failure is thrown. */
export function absent(cause: unknown): undefined {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== "ENOENT" && code !== "ENOTDIR" && code !== "ELOOP") throw cause;
}

/** Writes a new file, to the disk. @param mtime its time of change, instead of now */
export async function writeFile(
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

/** Renames a file into a folder below `root` that may be missing; the new name is on disk then. */
export async function moveInto(root: string, from: string, to: string): Promise<void> {
  const folder = dirname(to);
  for (let tries = 0; ; tries++) {
    try {
      await makeFolder(folder);
      await rename(from, to);
      break;
    } catch (cause) {
      // Whoever deleted the folder's last file at this moment took the folder with it.
      if ((cause as NodeJS.ErrnoException).code !== "ENOENT" || tries === 5) throw cause;
    }
  }
  // All of them: who else has just made one of the folders may not have come to this yet.
  for (let at = folder; at.length >= root.length; at = dirname(at)) await syncFolder(at);
}

/** Makes a folder with those above it, each of them on disk. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY).catch(absent);
  await handle?.sync();
  await handle?.close();
}

/** Folders are there for files: those that a file's going leaves empty go too. */
export async function removeEmpty(folder: string, root: string): Promise<void> {
  let at = folder;
  while (at !== root && (await isRemoved(at))) at = dirname(at);
  await syncFolder(at);
}

/** False for a folder that still holds something. */
function isRemoved(path: string): Promise<boolean> {
  return rmdir(path)
    .then(() => true)
    .catch(() => false);
}
