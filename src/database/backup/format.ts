/**
 * Format of backup files. The first line is a readable header:
 *
 *     svc-backup {"format":1,"created_at":…,"svc":…,"database":…,"migrations":[…],…}
 *
 * A gzip stream of JSON lines follows, in this order:
 *
 *     {"key":"…"}                                    the instance key, if requested
 *     {"table":"jobs","columns":[…],"next":7}        a table, followed by
 *     [cell, cell, …]                                one line per row
 *     {"file":"storage/…","mode":384,"mtime_ms":…}   a stored file, followed by
 *     "…"                                            its bytes in base64 chunks
 *     {"end":{"rows":…,"files":…,"sha256":"…"}}      trailer over everything before it, header included
 *
 * Cells are values as SQLite stores them, whichever the source: text, a number, null, or bytes as {"b64":"…"}.
 * Timestamps are Unix milliseconds, booleans 0 or 1. Backups can therefore be restored to either database.
 */
import { BadRequest } from "../../lib/errors.ts";

export const FORMAT = 1;
export const MAGIC = "svc-backup ";
/** The header must end within this size. */
export const MAX_HEADER_BYTES = 1_000_000;

export interface BackupHeader {
  format: number;
  /** ISO 8601. */
  created_at: string;
  /** Version of the executable that wrote the file. */
  svc: string;
  database: string;
  /** Names of the migrations applied to the data. */
  migrations: string[];
  with_key: boolean;
  /** Fingerprint of the instance key; null if there was none. */
  key_id: string | null;
}

export type Cell = string | number | null | Uint8Array;

export interface TableHead {
  table: string;
  columns: string[];
  /** Next value of the table's serial column. */
  next?: number | undefined;
}

export interface FileHead {
  file: string;
  mode: number;
  mtime_ms: number;
}

export interface BackupTrailer {
  rows: number;
  files: number;
  sha256: string;
}

export type BackupLine =
  | { kind: "key"; key: string }
  | ({ kind: "table" } & TableHead)
  | { kind: "row"; cells: Cell[] }
  | ({ kind: "file" } & FileHead)
  | { kind: "piece"; bytes: Uint8Array }
  | { kind: "end"; end: BackupTrailer };

/** Encodes a line, without its newline. */
export function encodeLine(line: BackupLine): string {
  switch (line.kind) {
    case "row":
      return JSON.stringify(
        line.cells.map((cell) => (cell instanceof Uint8Array ? { b64: toBase64(cell) } : cell)),
      );
    case "piece":
      return `"${toBase64(line.bytes)}"`;
    case "end":
      return JSON.stringify({ end: line.end });
    default: {
      const { kind, ...rest } = line;
      return JSON.stringify(rest);
    }
  }
}

/** Decodes a line. @throws BadRequest if it is invalid */
export function decodeLine(text: string): BackupLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw createDamagedBackupError("a line of it is not JSON", cause);
  }
  if (Array.isArray(value)) return { kind: "row", cells: value.map(decodeCell) };
  if (typeof value === "string") return { kind: "piece", bytes: Buffer.from(value, "base64") };
  if (typeof value === "object" && value !== null) {
    if ("table" in value) return { kind: "table", ...(value as TableHead) };
    if ("file" in value) return { kind: "file", ...(value as FileHead) };
    if ("key" in value) return { kind: "key", key: String(value.key) };
    if ("end" in value) return { kind: "end", end: value.end as BackupTrailer };
  }
  throw createDamagedBackupError("a line of it is of no known kind");
}

function decodeCell(cell: unknown): Cell {
  if (cell === null || typeof cell === "string" || typeof cell === "number") return cell;
  const { b64 } = cell as { b64?: unknown };
  if (typeof b64 !== "string") throw createDamagedBackupError("a value of it is of no known kind");
  return Buffer.from(b64, "base64");
}

export function encodeHeader(header: BackupHeader): string {
  return `${MAGIC}${JSON.stringify(header)}\n`;
}

/**
 * Decodes the header.
 * @param text the first line without its newline
 * @throws BadRequest if it is not a backup's, or a newer format's
 */
export function decodeHeader(text: string): BackupHeader {
  if (!text.startsWith(MAGIC)) throw new BadRequest("the file is not a backup of svc");
  let header: BackupHeader;
  try {
    header = JSON.parse(text.slice(MAGIC.length)) as BackupHeader;
  } catch (cause) {
    throw createDamagedBackupError("its first line is not JSON", cause);
  }
  if (typeof header.format !== "number" || !Array.isArray(header.migrations)) {
    throw createDamagedBackupError("its first line says neither format nor migrations");
  }
  if (header.format > FORMAT)
    throw createNewerBackupError(`it is of format ${header.format}, and this is ${FORMAT}`);
  return header;
}

export function createNewerBackupError(why: string): BadRequest {
  return new BadRequest(`the backup was made by a newer svc: ${why}`, {
    hint: "restore it with that version, or a later one",
  });
}

export function createDamagedBackupError(why: string, cause?: unknown): BadRequest {
  return new BadRequest(`the backup is damaged or cut short: ${why}`, {
    cause,
    hint: "copy it again from where it was made; nothing was changed",
  });
}

export function createTargetNotEmptyError(what: string): BadRequest {
  return new BadRequest(`${what} holds data already, which the backup would replace`, {
    hint: "restore to another place, or replace what is there with --force",
  });
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
