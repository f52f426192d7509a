/**
 * Restores a backup. The whole file is verified and unpacked beside the existing data before anything is replaced: by
 * one transaction on PostgreSQL, by a few renames in the data directory.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lockDirectory } from "../../lib/files/directory-lock.ts";
import { migrations } from "../migrations/index.ts";
import type { Migration } from "../migrations/migrate.ts";
import { type BackupProgress, computeKeyFingerprint, type DataLocation, findInstanceKey } from "./backup.ts";
import { readHeader, readLines, syncToDisk } from "./backup-file.ts";
import {
  type BackupHeader,
  type BackupLine,
  createDamagedBackupError,
  createNewerBackupError,
  createTargetNotEmptyError,
} from "./format.ts";
import type { RestoreTarget } from "./snapshot.ts";
import { createFileWriter, STORAGE_FOLDER } from "./stored-files.ts";

export interface RestoreSummary {
  created_at: string;
  rows: number;
  files: number;
  /** Folder with the replaced data, if any. */
  aside: string | undefined;
  /**
   * State of the instance key after the restore: taken from the backup, unchanged and matching, unchanged but
   * different, or absent. With `other` and `missing`, stored secrets cannot be read.
   */
  key: "restored" | "same" | "other" | "missing" | "none needed";
}

/**
 * Restores a backup file.
 * @throws BadRequest, without changes, if the file is invalid, newer or damaged, the target holds data and `force` is
 * not set, or a server is running
 */
export async function restoreBackup(
  place: DataLocation,
  path: string,
  options: { force: boolean; onProgress: (progress: BackupProgress) => void },
): Promise<RestoreSummary> {
  const { header, text } = await readHeader(path);
  const split = splitMigrations(header);
  await requireIntact(path, text);
  const lock = lockDirectory(place.data_dir, "svc restore");
  const temporary = join(place.data_dir, "restoring");
  try {
    if (!options.force) await requireEmpty(place);
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary, { mode: 0o700 });
    const aside = join(
      place.data_dir,
      `before-restore-${header.created_at.replace(/\W/g, "")}-${Date.now()}`,
    );
    const filling = await openRestoreTarget(place, { temporary, aside, force: options.force, ...split });
    const counts = await restoreInto(filling, temporary, readLines(path, text), options.onProgress);
    await swapInFiles(place, temporary, aside);
    return {
      created_at: header.created_at,
      ...counts,
      aside: existsSync(aside) ? aside : undefined,
      key: keyStatus(place, header),
    };
  } finally {
    await rm(temporary, { recursive: true, force: true });
    lock.release();
  }
}

/**
 * Verifies the whole file before using any of it: a damaged file may contain anything, even in column names.
 * @throws BadRequest if it is damaged
 */
async function requireIntact(path: string, headerText: string): Promise<void> {
  for await (const _ of readLines(path, headerText));
}

/** Returns how many migrations the backup's rows have been through. @throws BadRequest for unknown ones */
function splitMigrations({ migrations: applied }: BackupHeader): { through: number } {
  const known = migrations.sqlite.map(({ name }) => name);
  const unknown = applied.find((name, index) => known[index] !== name);
  if (unknown !== undefined)
    throw createNewerBackupError(`it has migration ${unknown}, which this one lacks`);
  return { through: applied.length };
}

async function requireEmpty({ data_dir, database_url }: DataLocation): Promise<void> {
  const stored = await readdir(join(data_dir, STORAGE_FOLDER)).catch(() => []);
  if (stored.length > 0) throw createTargetNotEmptyError(join(data_dir, STORAGE_FOLDER));
  if (database_url !== undefined) return;
  const { hasRows } = await import("./sqlite-backup.ts");
  const file = join(data_dir, "svc.db");
  if (hasRows(file)) throw createTargetNotEmptyError(file);
}

async function openRestoreTarget(
  { data_dir, database_url }: DataLocation,
  { temporary, aside, force, through }: { temporary: string; aside: string; force: boolean; through: number },
): Promise<RestoreTarget> {
  const split = (list: Migration[]) => ({ before: list.slice(0, through), after: list.slice(through) });
  if (database_url !== undefined) {
    const { openPostgresTarget } = await import("./postgres-backup.ts");
    return openPostgresTarget({ url: database_url, force, ...split(migrations.postgres) });
  }
  const { openSqliteTarget } = await import("./sqlite-backup.ts");
  return openSqliteTarget({
    temporary: join(temporary, "svc.db"),
    target: join(data_dir, "svc.db"),
    aside,
    ...split(migrations.sqlite),
  });
}

/** Unpacks the whole backup and commits once its trailer is verified. */
async function restoreInto(
  filling: RestoreTarget,
  temporary: string,
  lines: AsyncIterable<BackupLine>,
  onProgress: (progress: BackupProgress) => void,
): Promise<{ rows: number; files: number }> {
  const progress = { at: "", rows: 0, files: 0 };
  const files = createFileWriter(temporary);
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
          if (line.cells.length !== columns)
            throw createDamagedBackupError(`a row of ${progress.at} has not its columns`);
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
    throw explainFailure(cause);
  }
}

/**
 * Reports database errors as damage: the tables match the backup's migrations, so a row that does not fit is invalid.
 */
function explainFailure(cause: unknown): unknown {
  const { name } = cause as Error;
  return name === "SQLiteError" || name === "PostgresError"
    ? createDamagedBackupError((cause as Error).message, cause)
    : cause;
}

/** Swaps in the stored files and the key, and keeps the replaced ones. */
async function swapInFiles({ data_dir }: DataLocation, temporary: string, aside: string): Promise<void> {
  for (const name of [STORAGE_FOLDER, "instance.key"]) {
    const isThere = existsSync(join(data_dir, name));
    const isNew = existsSync(join(temporary, name));
    // Old files do not belong to the restored data; an old key that the backup lacks may still be the right one.
    if (isThere && (isNew || name === STORAGE_FOLDER)) {
      await mkdir(aside, { recursive: true, mode: 0o700 });
      await rename(join(data_dir, name), join(aside, name));
    }
    if (isNew) await rename(join(temporary, name), join(data_dir, name));
  }
  await syncToDisk(data_dir);
}

function keyStatus(place: DataLocation, { key_id, with_key }: BackupHeader): RestoreSummary["key"] {
  if (key_id === null) return "none needed";
  const key = findInstanceKey(place);
  if (!key) return "missing";
  if (computeKeyFingerprint(key) !== key_id) return "other";
  return with_key && !place.secret_key ? "restored" : "same";
}
