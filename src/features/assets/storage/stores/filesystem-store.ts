/**
 * Object store in a folder of the data directory. Each file is at the path of its key, so it can be inspected and
 * backed up with usual tools. The folder `.svc` belongs to the store: incoming uploads, and metadata that the file name
 * does not express.
 */
import type { Stats } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KeyedQueue } from "../../../../lib/async/keyed-queue.ts";
import { BadRequest, NotFound, StorageFull } from "../../../../lib/errors.ts";
import { createRandomText } from "../../../../lib/text/ids.ts";
import { guessContentType, type ObjectStore } from "../object-store.ts";
import {
  createFolderDurably,
  ignoreNotFound,
  moveFileDurably,
  removeEmptyFolders,
  writeFileDurably,
} from "./durable-files.ts";
import { listKeysBelow } from "./filesystem-keys.ts";
import { createGeneration, createMetadataStore } from "./filesystem-metadata.ts";

const STORE_FOLDER = ".svc";
/** Upper limit of a file name on common file systems, in bytes. */
const MAX_NAME_BYTES = 255;

/** Locks by path; one process suffices, as only one uses the data directory. */
const pathLocks = new KeyedQueue();

export function createFilesystemStore(root: string): ObjectStore {
  const incoming = join(root, STORE_FOLDER, "incoming");
  const wished = createMetadataStore(root, join(root, STORE_FOLDER));

  /**
   * Returns the path of a key. Symbolic links are not followed, so keys cannot leave the folder.
   * @throws BadRequest if a part is a link, or belongs to the store itself
   */
  async function locate(key: string): Promise<string> {
    const parts = key.split("/");
    if (parts[0]!.toLowerCase() === STORE_FOLDER)
      throw new BadRequest(`"${key}" cannot be a file key: ${STORE_FOLDER}/ is reserved for the store`);
    const long = parts.find((part) => Buffer.byteLength(part) > MAX_NAME_BYTES);
    if (long !== undefined) {
      throw new BadRequest(
        `"${long.slice(0, 40)}…" is longer than ${MAX_NAME_BYTES} bytes, the maximum for one part of a key`,
      );
    }
    for (let count = 1; count <= parts.length; count++) {
      const found = await lstat(join(root, ...parts.slice(0, count))).catch(ignoreNotFound);
      if (!found) break;
      if (found.isSymbolicLink()) {
        throw new BadRequest(
          `"${parts.slice(0, count).join("/")}" is a symbolic link, which is not followed`,
        );
      }
    }
    return join(root, ...parts);
  }

  return {
    async put(key, body, wishes = {}) {
      const path = await locate(key);
      await createFolderDurably(incoming);
      const temporary = join(incoming, createRandomText(20));
      try {
        await writeFileDurably(temporary, body, createGeneration);
        const generation = await lstat(temporary);
        await pathLocks.run([path], async () => {
          await wished.keep(key, generation, wishes);
          await moveFileDurably(root, temporary, path);
          await wished.forgetOthers(key, generation);
        });
      } catch (cause) {
        await rm(temporary, { force: true });
        throw toStorageError(cause, key);
      }
    },

    async get(key) {
      const path = await locate(key);
      return pathLocks.run([path], async () => {
        const found = await requireFile(path, key);
        const { size, mtime, mtimeMs, ino } = found;
        const wishes = await wished.read(key, found);
        const facts = {
          size,
          content_type: wishes.content_type ?? guessContentType(key),
          content_disposition: wishes.content_disposition,
          content_encoding: wishes.content_encoding,
          etag: `"${ino.toString(36)}-${Math.trunc(mtimeMs).toString(36)}-${size.toString(36)}"`,
          last_modified: mtime,
        };
        // Returned as a file, not a stream: Bun then sends Content-Length, and uses sendfile.
        const file = Bun.file(path);
        return {
          info: facts,
          read: async (range) => (range ? file.slice(range.start, range.end + 1) : file),
        };
      });
    },

    async delete(key) {
      const path = await locate(key);
      await pathLocks.run([path], async () => {
        await requireFile(path, key);
        await rm(path, { force: true });
        await wished.forgetOthers(key);
      });
      await removeEmptyFolders(dirname(path), root);
    },

    async move(from, to) {
      const [source, target] = [await locate(from), await locate(to)];
      await pathLocks.run([source, target], async () => {
        const generation = await requireFile(source, from);
        if (source === target) return;
        await wished.keep(to, generation, await wished.read(from, generation));
        await moveFileDurably(root, source, target).catch((cause) => {
          throw toStorageError(cause, to);
        });
        await Promise.all([wished.forgetOthers(to, generation), wished.forgetOthers(from)]);
      });
      await removeEmptyFolders(dirname(source), root);
    },

    async list({ prefix, marker, max_keys }) {
      const keys: string[] = [];
      for await (const key of listKeysBelow(root, { prefix, marker, own: `${STORE_FOLDER}/` })) {
        if (keys.length === max_keys) return { keys, more: true };
        keys.push(key);
      }
      return { keys, more: false };
    },
  };
}

/** Removes unfinished uploads left by a killed server. No upload may be active. */
export async function removeUnfinishedUploads(storage: string): Promise<void> {
  const folders = async (path: string) =>
    (await readdir(path).catch(() => [])).map((name) => join(path, name));
  for (const workspace of await folders(storage)) {
    for (const root of await folders(workspace)) {
      await rm(join(root, STORE_FOLDER, "incoming"), { recursive: true, force: true });
    }
  }
}

/**
 * Checks that a path is a regular file, and returns its metadata.
 * @throws NotFound unless it is a regular file: reading a pipe or device could block
 */
async function requireFile(path: string, key: string): Promise<Stats> {
  const found = await lstat(path).catch(ignoreNotFound);
  if (!found?.isFile()) throw new NotFound(`file ${key}`);
  return found;
}

/** Converts a file system error to an error for the uploader. */
function toStorageError(cause: unknown, key: string): unknown {
  switch ((cause as NodeJS.ErrnoException).code) {
    case "ENOSPC":
    case "EDQUOT":
      return new StorageFull("the disk is full: the file was not stored", { cause });
    case "ENOTDIR":
    case "EEXIST":
      return new BadRequest(`"${key}" is below a file, which is not a folder`, { cause });
    case "EISDIR":
    case "ENOTEMPTY":
      return new BadRequest(`"${key}" is a folder: there are files below it`, { cause });
    default:
      return cause;
  }
}
