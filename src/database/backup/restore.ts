/**
 * Restores a backup. Everything is read, checked and laid out beside the data first; only a backup that is whole takes
 * its place. On PostgreSQL that is one transaction, in the data directory a few renames.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lockDirectory } from "../../lib/files/directory-lock.ts";
import { migrations } from "../migrations/index.ts";
import type { Migration } from "../migrations/migrate.ts";
import { keyId, type Place, type Progress, presentKey } from "./backup.ts";
import { flush, readHeader, readLines } from "./file.ts";
import { damaged, type Header, type Line, newer, notEmpty } from "./format.ts";
import type { Filling } from "./snapshot.ts";
import { fileWriter, STORAGE } from "./stored-files.ts";

export interface Restored {
  created_at: string;
  rows: number;
  files: number;
  /** Folder that what was replaced is kept in, if anything was. */
  aside: string | undefined;
  /**
   * The instance key after the restore: of the backup, there before and the same, there before but another one, or none.
   * With the last two, the stored secrets cannot be read.
   */
  key: "restored" | "same" | "other" | "missing" | "none needed";
}

/**
 * @throws BadRequest when the file is no backup, of a newer version or damaged, when the target holds data and `force`
 * is not given, or when a server works there; nothing has been changed then
 */
export async function restoreBackup(
  place: Place,
  path: string,
  options: { force: boolean; onProgress: (progress: Progress) => void },
): Promise<Restored> {
  const { header, text } = await readHeader(path);
  const split = splitMigrations(header);
  await checkWhole(path, text);
  const lock = lockDirectory(place.data_dir, "svc restore");
  const temporary = join(place.data_dir, "restoring");
  try {
    if (!options.force) await refuseFull(place);
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary, { mode: 0o700 });
    const aside = join(
      place.data_dir,
      `before-restore-${header.created_at.replace(/\W/g, "")}-${Date.now()}`,
    );
    const filling = await openFilling(place, { temporary, aside, force: options.force, ...split });
    const counts = await fill(filling, temporary, readLines(path, text), options.onProgress);
    await moveIn(place, temporary, aside);
    return {
      created_at: header.created_at,
      ...counts,
      aside: existsSync(aside) ? aside : undefined,
      key: keyAfter(place, header),
    };
  } finally {
    await rm(temporary, { recursive: true, force: true });
    lock.release();
  }
}

/**
 * Reads it all once before anything is made of it: what is damaged may say anything, up to a name of a column.
 * @throws BadRequest when it is damaged
 */
async function checkWhole(path: string, headerText: string): Promise<void> {
  for await (const _ of readLines(path, headerText));
}

/** The migrations that the backup's rows have been through, and those to follow. @throws BadRequest for unknown ones */
function splitMigrations({ migrations: applied }: Header): { through: number } {
  const known = migrations.sqlite.map(({ name }) => name);
  const unknown = applied.find((name, index) => known[index] !== name);
  if (unknown !== undefined) throw newer(`it has migration ${unknown}, which this one lacks`);
  return { through: applied.length };
}

async function refuseFull({ data_dir, database_url }: Place): Promise<void> {
  const stored = await readdir(join(data_dir, STORAGE)).catch(() => []);
  if (stored.length > 0) throw notEmpty(join(data_dir, STORAGE));
  if (database_url !== undefined) return;
  const { holdsRows } = await import("./sqlite.ts");
  const file = join(data_dir, "svc.db");
  if (holdsRows(file)) throw notEmpty(file);
}

async function openFilling(
  { data_dir, database_url }: Place,
  { temporary, aside, force, through }: { temporary: string; aside: string; force: boolean; through: number },
): Promise<Filling> {
  const split = (list: Migration[]) => ({ before: list.slice(0, through), after: list.slice(through) });
  if (database_url !== undefined) {
    const { fillPostgres } = await import("./postgres.ts");
    return fillPostgres({ url: database_url, force, ...split(migrations.postgres) });
  }
  const { fillSqlite } = await import("./sqlite.ts");
  return fillSqlite({
    temporary: join(temporary, "svc.db"),
    target: join(data_dir, "svc.db"),
    aside,
    ...split(migrations.sqlite),
  });
}

/** Lays the whole backup out, and commits it once its end has been read and found right. */
async function fill(
  filling: Filling,
  temporary: string,
  lines: AsyncIterable<Line>,
  onProgress: (progress: Progress) => void,
): Promise<{ rows: number; files: number }> {
  const progress = { at: "", rows: 0, files: 0 };
  const files = fileWriter(temporary);
  let columns = 0;
  try {
    for await (const line of lines) {
      switch (line.kind) {
        case "key":
          await writeFile(join(temporary, "instance.key"), `${line.key}\n`, { mode: 0o600, flush: true });
          break;
        case "table":
          progress.at = line.table;
          columns = line.columns.length;
          await filling.table(line);
          break;
        case "row":
          if (line.cells.length !== columns) throw damaged(`a row of ${progress.at} has not its columns`);
          await filling.row(line.cells);
          progress.rows++;
          if (progress.rows % 1_000 === 0) onProgress(progress);
          break;
        case "file":
          progress.at = line.file;
          progress.files++;
          onProgress(progress);
          await files.begin(line);
          break;
        case "piece":
          await files.piece(line.bytes);
          break;
        case "end":
          break;
      }
    }
    await files.finish();
    await filling.commit();
    return { rows: progress.rows, files: progress.files };
  } catch (cause) {
    await files.abort();
    await filling.abort();
    throw explained(cause);
  }
}

/** What a row does to the database that it does not fit is the file's fault: its tables are made as it says. */
function explained(cause: unknown): unknown {
  const { name } = cause as Error;
  return name === "SQLiteError" || name === "PostgresError"
    ? damaged((cause as Error).message, cause)
    : cause;
}

/** Puts the stored files and the key in their places; what stood there is kept. */
async function moveIn({ data_dir }: Place, temporary: string, aside: string): Promise<void> {
  for (const name of [STORAGE, "instance.key"]) {
    const isThere = existsSync(join(data_dir, name));
    const isNew = existsSync(join(temporary, name));
    // Files of the data before are none of the restored one; a key that the backup lacks may still be the right one.
    if (isThere && (isNew || name === STORAGE)) {
      await mkdir(aside, { recursive: true, mode: 0o700 });
      await rename(join(data_dir, name), join(aside, name));
    }
    if (isNew) await rename(join(temporary, name), join(data_dir, name));
  }
  await flush(data_dir);
}

function keyAfter(place: Place, { key_id, with_key }: Header): Restored["key"] {
  if (key_id === null) return "none needed";
  const key = presentKey(place);
  if (!key) return "missing";
  if (keyId(key) !== key_id) return "other";
  return with_key && !place.secret_key ? "restored" : "same";
}
