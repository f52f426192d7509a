/**
 * Metadata of files in a filesystem store. Each entry belongs to one generation of a file, identified by its
 * modification time. So a file is always shown with the metadata of its own content, whichever concurrent upload is
 * last and wherever a crash happens. Backups preserve modification times.
 */
import { lstat, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createRandomText, sha256 } from "../../../../lib/text/ids.ts";
import type { ObjectMetadata } from "../object-store.ts";
import { createFolderDurably, ignoreNotFound, moveFileDurably, writeFileDurably } from "./durable-files.ts";

let lastGeneration = 0;

/** Returns a modification time that no other file of this process has. */
export function createGeneration(): Date {
  lastGeneration = Math.max(lastGeneration + 1, Date.now());
  return new Date(lastGeneration);
}

export interface Generation {
  mtimeMs: number;
}

const metadataFileName = ({ mtimeMs }: Generation) => `${Math.trunc(mtimeMs)}.json`;

/** Creates the metadata store. @param own the store's own folder, below `root` */
export function createMetadataStore(root: string, own: string) {
  const folderOf = (key: string) => join(own, "wishes", sha256(key));
  /** Metadata written by version 0.1.0: one file per key, written after the content. */
  const earlierOf = (key: string) => `${folderOf(key)}.json`;
  async function ofEarlier(key: string, generation: Generation): Promise<ObjectMetadata> {
    const found = await lstat(earlierOf(key)).catch(ignoreNotFound);
    if (!found || found.mtimeMs < generation.mtimeMs) return {};
    return JSON.parse(await readFile(earlierOf(key), "utf8")) as ObjectMetadata;
  }

  return {
    /** Stores the metadata; call it before the file is moved to its path. */
    async keep(key: string, generation: Generation, wishes: ObjectMetadata): Promise<void> {
      if (Object.values(wishes).every((wish) => wish === undefined)) return;
      const incoming = join(own, "incoming");
      const temporary = join(incoming, createRandomText(20));
      await createFolderDurably(incoming);
      await writeFileDurably(temporary, [Buffer.from(JSON.stringify(wishes))]);
      await moveFileDurably(root, temporary, join(folderOf(key), metadataFileName(generation)));
    },

    async read(key: string, generation: Generation): Promise<ObjectMetadata> {
      const text = await readFile(join(folderOf(key), metadataFileName(generation)), "utf8").catch(
        ignoreNotFound,
      );
      return text === undefined ? ofEarlier(key, generation) : (JSON.parse(text) as ObjectMetadata);
    },

    /** Deletes the metadata of all generations but the given one. */
    async forgetOthers(key: string, kept?: Generation): Promise<void> {
      const folder = folderOf(key);
      await rm(earlierOf(key), { force: true });
      const names = (await readdir(folder).catch(ignoreNotFound)) ?? [];
      const others = kept ? names.filter((name) => name !== metadataFileName(kept)) : names;
      if (others.length === names.length) await rm(folder, { recursive: true, force: true });
      else await Promise.all(others.map((name) => rm(join(folder, name), { force: true })));
    },
  };
}
