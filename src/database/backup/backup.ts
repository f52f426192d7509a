/** Backs up a data directory and its database while the server keeps running. */
import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadInstanceKey } from "../../lib/crypto/instance-key.ts";
import { BadRequest } from "../../lib/errors.ts";
import { VERSION } from "../../lib/version.ts";
import { migrations } from "../migrations/index.ts";
import { writeBackupFile } from "./backup-file.ts";
import { type BackupHeader, type BackupLine, createNewerBackupError, FORMAT } from "./format.ts";
import type { Snapshot } from "./snapshot.ts";
import { readStoredFiles } from "./stored-files.ts";

/** Location of an instance's data. */
export interface DataLocation {
  data_dir: string;
  /** Undefined: the embedded database. */
  database_url: string | undefined;
  secret_key: string | undefined;
}

export interface BackupProgress {
  /** Name of the table or file in progress. */
  at: string;
  rows: number;
  files: number;
}

export interface BackupSummary {
  created_at: string;
  bytes: number;
  tables: number;
  rows: number;
  files: number;
  with_key: boolean;
}

/**
 * Writes a consistent backup to `path`: all rows, the stored files and optionally the instance key.
 * @throws BadRequest if the file exists already or there is nothing to back up
 */
export async function makeBackup(
  place: DataLocation,
  path: string,
  options: { with_key: boolean; force: boolean; onProgress: (progress: BackupProgress) => void },
): Promise<BackupSummary> {
  if (existsSync(path) && !options.force) {
    throw new BadRequest(`${path} exists already`, {
      hint: "choose another name, or replace it with --force",
    });
  }
  const key = findInstanceKey(place);
  if (options.with_key && !key) throw new BadRequest("there is no instance key to put in the backup");
  const snapshot = await openSnapshot(place);
  try {
    const known = migrations.sqlite.map(({ name }) => name);
    const unknown = snapshot.migrations.find((name) => !known.includes(name));
    if (unknown !== undefined)
      throw createNewerBackupError(`the database has migration ${unknown}, which this one lacks`);
    const header: BackupHeader = {
      format: FORMAT,
      created_at: new Date().toISOString(),
      svc: VERSION,
      database: place.database_url === undefined ? "sqlite" : "postgres",
      migrations: snapshot.migrations,
      with_key: options.with_key,
      key_id: key ? computeKeyFingerprint(key) : null,
    };
    const lines = backupLines(place, snapshot, options.with_key ? key : undefined, options.onProgress);
    const { bytes, rows, files } = await writeBackupFile(path, header, lines);
    const { created_at, with_key } = header;
    return { created_at, bytes, tables: snapshot.tables.length, rows, files, with_key };
  } finally {
    await snapshot.close();
  }
}

async function openSnapshot(place: DataLocation): Promise<Snapshot> {
  if (place.database_url !== undefined) {
    const { snapshotPostgres } = await import("./postgres-backup.ts");
    return snapshotPostgres(place.database_url);
  }
  const { snapshotSqlite } = await import("./sqlite-backup.ts");
  return snapshotSqlite(join(place.data_dir, "svc.db"));
}

async function* backupLines(
  place: DataLocation,
  snapshot: Snapshot,
  key: Uint8Array | undefined,
  onProgress: (progress: BackupProgress) => void,
): AsyncGenerator<BackupLine> {
  const progress = { at: "", rows: 0, files: 0 };
  if (key) yield { kind: "key", key: Buffer.from(key).toString("base64") };
  for (const head of snapshot.tables) {
    progress.at = head.table;
    yield { kind: "table", ...head };
    for await (const cells of snapshot.rows(head)) {
      yield { kind: "row", cells };
      progress.rows++;
      if (progress.rows % 1_000 === 0) onProgress(progress);
    }
  }
  for await (const line of readStoredFiles(place.data_dir)) {
    if (line.kind === "file") {
      progress.at = line.file;
      progress.files++;
    }
    onProgress(progress);
    yield line;
  }
}

/** Loads the instance key if there is one, without creating it. */
export function findInstanceKey({
  data_dir,
  secret_key,
}: Omit<DataLocation, "database_url">): Uint8Array | undefined {
  if (!secret_key && !existsSync(join(data_dir, "instance.key"))) return undefined;
  return loadInstanceKey(data_dir, secret_key);
}

/** Returns a fingerprint that tells keys apart without revealing them. */
export function computeKeyFingerprint(key: Uint8Array): string {
  return createHmac("sha256", key).update("svc backup key id").digest("hex").slice(0, 16);
}
