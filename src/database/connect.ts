import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { BadRequest, StorageFull, Unavailable } from "../lib/errors.ts";
import type { Database } from "./database.ts";
import { isOutage } from "./failure.ts";
import { dialect } from "./kit.ts";
import { refuseMoved } from "./moved-marker.ts";

/** Makes a file that its owner alone can read, or makes one so; what SQLite puts beside it is then as private. */
export function keepPrivate(path: string): void {
  closeSync(openSync(path, "a", 0o600));
  try {
    chmodSync(path, 0o600);
  } catch {
    // Somebody else's, or a file system without modes: `svc doctor` tells.
  }
}

export interface ConnectOptions {
  data_dir: string;
  database_url: string | undefined;
  max_bytes: number;
  max_connections: number;
  /** How long a process that says nothing may keep what it holds. */
  lease_s?: number;
}

/**
 * Opens the process's database: the file in the data directory, or the PostgreSQL server of DATABASE_URL.
 * @throws Conflict when the file's instance has moved to PostgreSQL, BadRequest when the URL is none of a PostgreSQL
 */
export async function connect(options: ConnectOptions): Promise<Database> {
  if (dialect === "postgres") {
    const { openPostgres } = await import("./postgres/postgres.ts");
    const { database_url, max_connections, lease_s } = options;
    checkPostgresUrl(database_url!, "DATABASE_URL");
    const most = lease_s === undefined ? {} : { max_pause_ms: lease_s * 1000 };
    const rehearse = process.env.SVC_TEST_REHEARSE_WRITES === "1";
    return openPostgres({ url: database_url!, max_connections, rehearse, ...most });
  }
  mkdirSync(options.data_dir, { recursive: true, mode: 0o700 });
  refuseMoved(options.data_dir);
  const { openSqlite } = await import("./sqlite/sqlite.ts");
  const path = join(options.data_dir, "svc.db");
  keepPrivate(path);
  return openSqlite({ path, max_bytes: options.max_bytes });
}

/** @param what the URL is called for people. @throws BadRequest */
export function checkPostgresUrl(url: string, what: string): void {
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return;
  throw new BadRequest(`${what} is not the URL of a PostgreSQL database`, {
    hint: "it reads postgres://user:password@host:5432/database",
  });
}

/** What a process says that cannot begin because its PostgreSQL cannot be used; undefined for other causes. */
export function outageAtStart(
  { database_url }: { database_url: string | undefined },
  thrown: unknown,
): Unavailable | undefined {
  if (database_url === undefined || !isOutage(thrown)) return undefined;
  return outageAt(database_url, thrown);
}

/** The system's and SQLite's names for a disk that nothing can be written to. */
const NO_ROOM = /^(ENOSPC|EDQUOT|EROFS|SQLITE_FULL|SQLITE_READONLY|SQLITE_IOERR)/;

/** What a process says that cannot begin because there is no room for its files; undefined for other causes. */
export function noRoomAtStart(data_dir: string, thrown: unknown): StorageFull | undefined {
  for (let at = thrown; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown };
    if (typeof code !== "string" || !NO_ROOM.test(code)) continue;
    return new StorageFull(`the data directory ${data_dir} cannot be written to: ${at.message}`, {
      cause: thrown,
      hint: "free some space on its disk, or choose another folder with --data-dir (SVC_DATA_DIR)",
    });
  }
  return undefined;
}

/** @param url of the database, whose user and password are told to nobody */
export function outageAt(url: string, thrown: unknown): Unavailable {
  const { host, pathname } = new URL(url);
  let root = thrown as Error;
  while (root.cause instanceof Error) root = root.cause;
  return new Unavailable(`the database ${host}${pathname} cannot be used: ${root.message}`, {
    cause: thrown,
    hint: "is its URL right, and does PostgreSQL run there and let this user in?",
  });
}
