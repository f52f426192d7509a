/** Makes a backup of a data directory and its database, beside a server that goes on working. */
import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadInstanceKey } from "../../lib/crypto/instance-key.ts";
import { BadRequest } from "../../lib/errors.ts";
import { VERSION } from "../../lib/version.ts";
import { migrations } from "../migrations/index.ts";
import { writeBackupFile } from "./file.ts";
import { FORMAT, type Header, type Line, newer } from "./format.ts";
import type { Snapshot } from "./snapshot.ts";
import { storedFiles } from "./stored-files.ts";

/** Where the data is. */
export interface Place {
  data_dir: string;
  /** Undefined: the embedded database. */
  database_url: string | undefined;
  secret_key: string | undefined;
}

export interface Progress {
  /** Table or file that is worked on. */
  at: string;
  rows: number;
  files: number;
}

export interface Made {
  created_at: string;
  bytes: number;
  tables: number;
  rows: number;
  files: number;
  with_key: boolean;
}

/**
 * Writes a backup of one moment to `path`: all rows, the stored files and, if asked for, the instance key.
 * @throws BadRequest when there is such a file already, or nothing to back up
 */
export async function makeBackup(
  place: Place,
  path: string,
  options: { with_key: boolean; force: boolean; onProgress: (progress: Progress) => void },
): Promise<Made> {
  if (existsSync(path) && !options.force) {
    throw new BadRequest(`${path} exists already`, {
      hint: "choose another name, or replace it with --force",
    });
  }
  const key = presentKey(place);
  if (options.with_key && !key) throw new BadRequest("there is no instance key to put in the backup");
  const snapshot = await openSnapshot(place);
  try {
    const known = migrations.sqlite.map(({ name }) => name);
    const unknown = snapshot.migrations.find((name) => !known.includes(name));
    if (unknown !== undefined) throw newer(`the database has migration ${unknown}, which this one lacks`);
    const header: Header = {
      format: FORMAT,
      created_at: new Date().toISOString(),
      svc: VERSION,
      database: place.database_url === undefined ? "sqlite" : "postgres",
      migrations: snapshot.migrations,
      with_key: options.with_key,
      key_id: key ? keyId(key) : null,
    };
    const lines = linesOf(place, snapshot, options.with_key ? key : undefined, options.onProgress);
    const { bytes, rows, files } = await writeBackupFile(path, header, lines);
    const { created_at, with_key } = header;
    return { created_at, bytes, tables: snapshot.tables.length, rows, files, with_key };
  } finally {
    await snapshot.close();
  }
}

async function openSnapshot(place: Place): Promise<Snapshot> {
  if (place.database_url !== undefined) {
    const { snapshotPostgres } = await import("./postgres.ts");
    return snapshotPostgres(place.database_url);
  }
  const { snapshotSqlite } = await import("./sqlite.ts");
  return snapshotSqlite(join(place.data_dir, "svc.db"));
}

async function* linesOf(
  place: Place,
  snapshot: Snapshot,
  key: Uint8Array | undefined,
  onProgress: (progress: Progress) => void,
): AsyncGenerator<Line> {
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
  for await (const line of storedFiles(place.data_dir)) {
    if (line.kind === "file") {
      progress.at = line.file;
      progress.files++;
    }
    onProgress(progress);
    yield line;
  }
}

/** The instance key, if there is one: asking for it must not make one. */
export function presentKey({ data_dir, secret_key }: Omit<Place, "database_url">): Uint8Array | undefined {
  if (!secret_key && !existsSync(join(data_dir, "instance.key"))) return undefined;
  return loadInstanceKey(data_dir, secret_key);
}

/** Tells whether two keys are the same, and nothing else of them. */
export function keyId(key: Uint8Array): string {
  return createHmac("sha256", key).update("svc backup key id").digest("hex").slice(0, 16);
}
