import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { BadRequest, StorageFull, Unavailable } from "../lib/errors.ts";
import type { Database } from "./database.ts";
import { isOutage } from "./failure.ts";
import { dialect } from "./kit.ts";
import { requireNotMoved } from "./moved-marker.ts";

/**
 * Creates a file that only its owner can read, or restricts an existing one. SQLite creates its side files with the
 * same mode.
 */
export function makeFilePrivate(path: string): void {
  closeSync(openSync(path, "a", 0o600));
  try {
    chmodSync(path, 0o600);
  } catch {
    // Owned by someone else, or a file system without modes; `svc doctor` reports it.
  }
}

export interface ConnectOptions {
  data_dir: string;
  database_url: string | undefined;
  max_bytes: number;
  max_connections: number;
  /** Longest time that a stalled process may keep its locks. */
  lease_s?: number;
}

/**
 * Opens the process's database: the file in the data directory, or the PostgreSQL of DATABASE_URL.
 * @throws Conflict if the instance has moved to PostgreSQL, BadRequest for an invalid URL
 */
export async function openDatabase(options: ConnectOptions): Promise<Database> {
  if (dialect === "postgres") {
    const { openPostgres } = await import("./postgres/postgres.ts");
    const { database_url, max_connections, lease_s } = options;
    requirePostgresUrl(database_url!, "DATABASE_URL");
    const limit = lease_s === undefined ? {} : { max_pause_ms: lease_s * 1000 };
    const rehearse = process.env.SVC_TEST_REHEARSE_WRITES === "1";
    return openPostgres({ url: database_url!, max_connections, rehearse, ...limit });
  }
  mkdirSync(options.data_dir, { recursive: true, mode: 0o700 });
  requireNotMoved(options.data_dir);
  const { openSqlite } = await import("./sqlite/sqlite.ts");
  const path = join(options.data_dir, "svc.db");
  makeFilePrivate(path);
  return openSqlite({ path, max_bytes: options.max_bytes });
}

/**
 * Checks that a text is the URL of a PostgreSQL database.
 * @param what name of the setting that holds the URL
 * @throws BadRequest for other URLs
 */
export function requirePostgresUrl(url: string, what: string): void {
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return;
  throw new BadRequest(`${what} is not the URL of a PostgreSQL database`, {
    hint: "it reads postgres://user:password@host:5432/database",
  });
}

/** Converts a startup error into Unavailable if PostgreSQL is unreachable; undefined for other causes. */
export function explainOutage(
  { database_url }: { database_url: string | undefined },
  thrown: unknown,
): Unavailable | undefined {
  if (database_url === undefined || !isOutage(thrown)) return undefined;
  return createOutageError(database_url, thrown);
}

/** Error codes of the system and of SQLite for a disk that cannot be written to. */
const NO_ROOM_CODES = /^(ENOSPC|EDQUOT|EROFS|SQLITE_FULL|SQLITE_READONLY|SQLITE_IOERR)/;

/** Converts a startup error into StorageFull if the data directory cannot be written to; undefined for other causes. */
export function explainFullDisk(data_dir: string, thrown: unknown): StorageFull | undefined {
  for (let at = thrown; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown };
    if (typeof code !== "string" || !NO_ROOM_CODES.test(code)) continue;
    return new StorageFull(`the data directory ${data_dir} cannot be written to: ${at.message}`, {
      cause: thrown,
      hint: "free some space on its disk, or choose another folder with --data-dir (SVC_DATA_DIR)",
    });
  }
  return undefined;
}

/** Creates the error for an unreachable database. @param url only its host and database name appear in the message */
export function createOutageError(url: string, thrown: unknown): Unavailable {
  const { host, pathname } = new URL(url);
  let root = thrown as Error;
  while (root.cause instanceof Error) root = root.cause;
  return new Unavailable(`the database ${host}${pathname} cannot be used: ${root.message}`, {
    cause: thrown,
    hint: "check that the URL is right, that PostgreSQL is running there, and that it accepts this user",
  });
}
