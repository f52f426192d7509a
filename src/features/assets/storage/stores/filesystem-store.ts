/**
 * Files below a folder of the data directory, each at the path that its key says, so that they can be looked at and
 * backed up with the usual tools. The folder `.svc` at the top is the store's own: files on their way in, and what was
 * wished for a file where that is not told by its name.
 */
import type { Stats } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Turns } from "../../../../lib/async/keyed-queue.ts";
import { BadRequest, NotFound, StorageFull } from "../../../../lib/errors.ts";
import { randomText } from "../../../../lib/text/ids.ts";
import { type ObjectStore, typeOf } from "../store.ts";
import { absent, makeFolder, moveInto, removeEmpty, writeFile } from "./filesystem-files.ts";
import { keysBelow } from "./filesystem-list.ts";
import { newGeneration, wishKeeper } from "./filesystem-metadata.ts";

const OWN = ".svc";
/** The longest name of one file or folder on the usual file systems, in bytes. */
const MAX_NAME = 255;

/** By path: one process has the data directory. */
const turns = new Turns();

export function filesystemStore(root: string): ObjectStore {
  const incoming = join(root, OWN, "incoming");
  const wished = wishKeeper(root, join(root, OWN));

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

  return {
    async put(key, body, wishes = {}) {
      const path = await locate(key);
      await makeFolder(incoming);
      const temporary = join(incoming, randomText(20));
      try {
        await writeFile(temporary, body, newGeneration);
        const generation = await lstat(temporary);
        await turns.run([path], async () => {
          await wished.keep(key, generation, wishes);
          await moveInto(root, temporary, path);
          await wished.forgetOthers(key, generation);
        });
      } catch (cause) {
        await rm(temporary, { force: true });
        throw explained(cause, key);
      }
    },

    async get(key) {
      const path = await locate(key);
      return turns.run([path], async () => {
        const found = await requireFile(path, key);
        const { size, mtime, mtimeMs, ino } = found;
        const wishes = await wished.read(key, found);
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
      });
    },

    async delete(key) {
      const path = await locate(key);
      await turns.run([path], async () => {
        await requireFile(path, key);
        await rm(path, { force: true });
        await wished.forgetOthers(key);
      });
      await removeEmpty(dirname(path), root);
    },

    async move(from, to) {
      const [source, target] = [await locate(from), await locate(to)];
      await turns.run([source, target], async () => {
        const generation = await requireFile(source, from);
        if (source === target) return;
        await wished.keep(to, generation, await wished.read(from, generation));
        await moveInto(root, source, target).catch((cause) => {
          throw explained(cause, to);
        });
        await Promise.all([wished.forgetOthers(to, generation), wished.forgetOthers(from)]);
      });
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
