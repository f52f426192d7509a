/**
 * The backup file. Its first line is text that says what it is:
 *
 *     svc-backup {"format":1,"created_at":…,"svc":…,"database":…,"migrations":[…],…}
 *
 * Behind it stands a gzip stream of JSON lines, in this order:
 *
 *     {"key":"…"}                                    the instance key, where it was asked for
 *     {"table":"jobs","columns":[…],"next":7}        a table, and then
 *     [cell, cell, …]                                a line for each of its rows
 *     {"file":"storage/…","mode":384,"mtime_ms":…}   a stored file, and then
 *     "…"                                            its bytes in pieces of base64
 *     {"end":{"rows":…,"files":…,"sha256":"…"}}      of all that stands before it, the first line included
 *
 * A cell is what SQLite stores, whichever database it comes from: text, a number, null, or bytes as {"b64":"…"};
 * moments are milliseconds since 1970, truth is 0 or 1. So what one database held can be restored on the other.
 */
import { BadRequest } from "../../lib/errors.ts";

export const FORMAT = 1;
export const MAGIC = "svc-backup ";
/** The first line is looked for no further than this. */
export const MAX_HEADER = 1_000_000;

export interface Header {
  format: number;
  /** ISO 8601. */
  created_at: string;
  /** Version of the executable that wrote it. */
  svc: string;
  database: string;
  /** Names of the migrations that the data has been through. */
  migrations: string[];
  with_key: boolean;
  /** Tells one instance key from another without giving it away; null when there was none. */
  key_id: string | null;
}

export type Cell = string | number | null | Uint8Array;

export interface TableHead {
  table: string;
  columns: string[];
  /** The number that the table's counting column gives next. */
  next?: number | undefined;
}

export interface FileHead {
  file: string;
  mode: number;
  mtime_ms: number;
}

export interface End {
  rows: number;
  files: number;
  sha256: string;
}

export type Line =
  | { kind: "key"; key: string }
  | ({ kind: "table" } & TableHead)
  | { kind: "row"; cells: Cell[] }
  | ({ kind: "file" } & FileHead)
  | { kind: "piece"; bytes: Uint8Array }
  | { kind: "end"; end: End };

/** One line without its newline. */
export function encodeLine(line: Line): string {
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

/** @throws BadRequest for what no backup of this format holds */
export function decodeLine(text: string): Line {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw damaged("a line of it is no JSON", cause);
  }
  if (Array.isArray(value)) return { kind: "row", cells: value.map(decodeCell) };
  if (typeof value === "string") return { kind: "piece", bytes: Buffer.from(value, "base64") };
  if (typeof value === "object" && value !== null) {
    if ("table" in value) return { kind: "table", ...(value as TableHead) };
    if ("file" in value) return { kind: "file", ...(value as FileHead) };
    if ("key" in value) return { kind: "key", key: String(value.key) };
    if ("end" in value) return { kind: "end", end: value.end as End };
  }
  throw damaged("a line of it is of no known kind");
}

function decodeCell(cell: unknown): Cell {
  if (cell === null || typeof cell === "string" || typeof cell === "number") return cell;
  const { b64 } = cell as { b64?: unknown };
  if (typeof b64 !== "string") throw damaged("a value of it is of no known kind");
  return Buffer.from(b64, "base64");
}

export function encodeHeader(header: Header): string {
  return `${MAGIC}${JSON.stringify(header)}\n`;
}

/**
 * @param text the first line without its newline
 * @throws BadRequest when it is not that of a backup, or of a newer one
 */
export function decodeHeader(text: string): Header {
  if (!text.startsWith(MAGIC)) throw new BadRequest("the file is no backup of svc");
  let header: Header;
  try {
    header = JSON.parse(text.slice(MAGIC.length)) as Header;
  } catch (cause) {
    throw damaged("its first line is no JSON", cause);
  }
  if (typeof header.format !== "number" || !Array.isArray(header.migrations)) {
    throw damaged("its first line says neither format nor migrations");
  }
  if (header.format > FORMAT) throw newer(`it is of format ${header.format}, and this is ${FORMAT}`);
  return header;
}

export function newer(why: string): BadRequest {
  return new BadRequest(`the backup was made by a newer svc: ${why}`, {
    hint: "restore it with that version, or a later one",
  });
}

export function damaged(why: string, cause?: unknown): BadRequest {
  return new BadRequest(`the backup is damaged or cut short: ${why}`, {
    cause,
    hint: "copy it again from where it was made; nothing was changed",
  });
}

export function notEmpty(what: string): BadRequest {
  return new BadRequest(`${what} holds data already, which the backup would replace`, {
    hint: "restore to another place, or replace what is there with --force",
  });
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
