import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "./database.ts";
import { dialect } from "./kit.ts";
import { refuseMoved } from "./moved.ts";

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
 * @throws Conflict when the file's instance has moved to PostgreSQL
 */
export async function connect(options: ConnectOptions): Promise<Database> {
  if (dialect === "postgres") {
    const { openPostgres } = await import("./postgres.ts");
    const { database_url, max_connections, lease_s } = options;
    const most = lease_s === undefined ? {} : { max_pause_ms: lease_s * 1000 };
    return openPostgres({ url: database_url!, max_connections, ...most });
  }
  mkdirSync(options.data_dir, { recursive: true, mode: 0o700 });
  refuseMoved(options.data_dir);
  const { openSqlite } = await import("./sqlite.ts");
  const path = join(options.data_dir, "svc.db");
  keepPrivate(path);
  return openSqlite({ path, max_bytes: options.max_bytes });
}
