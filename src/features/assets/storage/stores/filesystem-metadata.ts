/**
 * What was wished for a file and is not told by its name. A wish belongs to one generation of a file, which is its time
 * of change: whichever of several uploads is the last, and wherever a crash comes between two steps, a file is shown with
 * the wishes that came with its bytes. Backups keep times of change.
 */
import { lstat, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { randomText, sha256 } from "../../../../lib/text/ids.ts";
import type { Wishes } from "../store.ts";
import { absent, makeFolder, moveInto, writeFile } from "./filesystem-files.ts";

let last = 0;

/** A time of change that no other file of this process has. */
export function newGeneration(): Date {
  last = Math.max(last + 1, Date.now());
  return new Date(last);
}

export interface Generation {
  mtimeMs: number;
}

const nameOf = ({ mtimeMs }: Generation) => `${Math.trunc(mtimeMs)}.json`;

/** @param own the folder of the store's own files, below `root` */
export function wishKeeper(root: string, own: string) {
  const folderOf = (key: string) => join(own, "wishes", sha256(key));
  /** Wishes of files stored by version 0.1.0: one for a key, written after the bytes they belong to. */
  const earlierOf = (key: string) => `${folderOf(key)}.json`;
  async function ofEarlier(key: string, generation: Generation): Promise<Wishes> {
    const found = await lstat(earlierOf(key)).catch(absent);
    if (!found || found.mtimeMs < generation.mtimeMs) return {};
    return JSON.parse(await readFile(earlierOf(key), "utf8")) as Wishes;
  }

  return {
    /** To be called before the file gets its name. */
    async keep(key: string, generation: Generation, wishes: Wishes): Promise<void> {
      if (Object.values(wishes).every((wish) => wish === undefined)) return;
      const incoming = join(own, "incoming");
      const temporary = join(incoming, randomText(20));
      await makeFolder(incoming);
      await writeFile(temporary, [Buffer.from(JSON.stringify(wishes))]);
      await moveInto(root, temporary, join(folderOf(key), nameOf(generation)));
    },

    async read(key: string, generation: Generation): Promise<Wishes> {
      const text = await readFile(join(folderOf(key), nameOf(generation)), "utf8").catch(absent);
      return text === undefined ? ofEarlier(key, generation) : (JSON.parse(text) as Wishes);
    },

    /** Removes the wishes for other generations than the one that the key has now, if any. */
    async forgetOthers(key: string, kept?: Generation): Promise<void> {
      const folder = folderOf(key);
      await rm(earlierOf(key), { force: true });
      const names = (await readdir(folder).catch(absent)) ?? [];
      const others = kept ? names.filter((name) => name !== nameOf(kept)) : names;
      if (others.length === names.length) await rm(folder, { recursive: true, force: true });
      else await Promise.all(others.map((name) => rm(join(folder, name), { force: true })));
    },
  };
}
