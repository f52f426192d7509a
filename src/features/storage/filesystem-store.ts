/**
 * Files below a folder of the data directory, each at the path that its key says, so that they can be looked at and
 * backed up with the usual tools. The folder `.svc` at the top is the store's own: files on their way in, and what was
 * wished for a file where that is not told by its name.
 */
import { constants, type Stats } from "node:fs";
import { lstat, mkdir, open, readdir, readFile, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BadRequest, NotFound, StorageFull } from "../../errors.ts";
import { randomText, sha256 } from "../../lib/ids.ts";
import { keysBelow } from "./filesystem-list.ts";
import { type ObjectStore, typeOf, type Wishes } from "./store.ts";

const OWN = ".svc";
/** The longest name of one file or folder on the usual file systems, in bytes. */
const MAX_NAME = 255;

export function filesystemStore(root: string): ObjectStore {
  const incoming = join(root, OWN, "incoming");
  const wishesOf = (key: string) => join(root, OWN, "wishes", `${sha256(key)}.json`);

  /**
   * The path of a key. Links are not followed: what is below the folder is all that a key can reach.
   * @throws BadRequest when a part of it is a link or belongs to the store itself
   */
  async function locate(key: string): Promise<string> {
    const parts = key.split("/");
    if (parts[0]!.toLowerCase() === OWN)
      throw new BadRequest(`"${key}" cannot be a file key: ${OWN}/ is the store's own`);
    const long = parts.find((part) => Buffer.byteLength(part) > MAX_NAME);
    if (long !== undefined) {
      throw new BadRequest(
        `"${long.slice(0, 40)}…" is longer than ${MAX_NAME} bytes, the most a part may be`,
      );
    }
    for (let count = 1; count <= parts.length; count++) {
      const found = await lstat(join(root, ...parts.slice(0, count))).catch(absent);
      if (!found) break;
      if (found.isSymbolicLink()) {
        throw new BadRequest(`"${parts.slice(0, count).join("/")}" is a link, which is not followed`);
      }
    }
    return join(root, ...parts);
  }

  async function keepWishes(key: string, wishes: Wishes): Promise<void> {
    if (Object.values(wishes).every((wish) => wish === undefined)) {
      await rm(wishesOf(key), { force: true });
      return;
    }
    const temporary = join(incoming, randomText(20));
    await makeFolder(incoming);
    await writeFile(temporary, [Buffer.from(JSON.stringify(wishes))]);
    await moveInto(root, temporary, wishesOf(key));
  }

  return {
    async put(key, body, wishes = {}) {
      const path = await locate(key);
      await makeFolder(incoming);
      const temporary = join(incoming, randomText(20));
      try {
        await writeFile(temporary, body);
        await keepWishes(key, wishes);
        await moveInto(root, temporary, path);
      } catch (cause) {
        await rm(temporary, { force: true });
        throw explained(cause, key);
      }
    },

    async get(key) {
      const path = await locate(key);
      const { size, mtime, mtimeMs, ino } = await requireFile(path, key);
      const wishes = await readWishes(wishesOf(key));
      const facts = {
        size,
        content_type: wishes.content_type ?? typeOf(key),
        content_disposition: wishes.content_disposition,
        content_encoding: wishes.content_encoding,
        etag: `"${ino.toString(36)}-${Math.trunc(mtimeMs).toString(36)}-${size.toString(36)}"`,
        last_modified: mtime,
      };
      // A file, not a stream of it: of a stream Bun tells no length, and it sends a file without reading it.
      const file = Bun.file(path);
      return { facts, read: async (range) => (range ? file.slice(range.start, range.end + 1) : file) };
    },

    async delete(key) {
      const path = await locate(key);
      await requireFile(path, key);
      await rm(path, { force: true });
      await rm(wishesOf(key), { force: true });
      await removeEmpty(dirname(path), root);
    },

    async move(from, to) {
      const [source, target] = [await locate(from), await locate(to)];
      await requireFile(source, from);
      if (source === target) return;
      await keepWishes(to, await readWishes(wishesOf(from)));
      await moveInto(root, source, target).catch((cause) => {
        throw explained(cause, to);
      });
      await rm(wishesOf(from), { force: true });
      await removeEmpty(dirname(source), root);
    },

    async list({ prefix, marker, max_keys }) {
      const keys: string[] = [];
      for await (const key of keysBelow(root, { prefix, marker, own: `${OWN}/` })) {
        if (keys.length === max_keys) return { keys, more: true };
        keys.push(key);
      }
      return { keys, more: false };
    },
  };
}

/** Removes what a killed server left of files on their way in. Nothing may be on its way. */
export async function removeUnfinished(storage: string): Promise<void> {
  const folders = async (path: string) =>
    (await readdir(path).catch(() => [])).map((name) => join(path, name));
  for (const workspace of await folders(storage)) {
    for (const root of await folders(workspace)) {
      await rm(join(root, OWN, "incoming"), { recursive: true, force: true });
    }
  }
}

/** Undefined for what is not there; any other failure is thrown. */
function absent(cause: unknown): undefined {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== "ENOENT" && code !== "ENOTDIR" && code !== "ELOOP") throw cause;
}

/** @throws NotFound for what is no file: a pipe or a device would keep its reader waiting */
async function requireFile(path: string, key: string): Promise<Stats> {
  const found = await lstat(path).catch(absent);
  if (!found?.isFile()) throw new NotFound(`file ${key}`);
  return found;
}

/** What a failure of the file system says to who stores a file. */
function explained(cause: unknown, key: string): unknown {
  switch ((cause as NodeJS.ErrnoException).code) {
    case "ENOSPC":
    case "EDQUOT":
      return new StorageFull("the disk is full: the file was not stored", { cause });
    case "ENOTDIR":
    case "EEXIST":
      return new BadRequest(`"${key}" goes through what is a file already`, { cause });
    case "EISDIR":
    case "ENOTEMPTY":
      return new BadRequest(`"${key}" is a folder: there are files below it`, { cause });
    default:
      return cause;
  }
}

/** Writes a new file, to the disk. */
async function writeFile(
  path: string,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    for await (const piece of body) {
      for (let at = 0; at < piece.byteLength; ) {
        at += (await handle.write(piece, at, piece.byteLength - at)).bytesWritten;
      }
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Renames a file into a folder below `root` that may be missing; the new name is on disk then. */
async function moveInto(root: string, from: string, to: string): Promise<void> {
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
async function makeFolder(path: string): Promise<void> {
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
async function removeEmpty(folder: string, root: string): Promise<void> {
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

async function readWishes(path: string): Promise<Wishes> {
  const text = await readFile(path, "utf8").catch(absent);
  return text === undefined ? {} : (JSON.parse(text) as Wishes);
}
