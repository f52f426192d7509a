import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "./database.ts";
import { dialect } from "./kit.ts";

export interface ConnectOptions {
  data_dir: string;
  database_url: string | undefined;
  max_bytes: number;
  max_connections: number;
}

/** Opens the process's database: the file in the data directory, or the PostgreSQL server of DATABASE_URL. */
export async function connect(options: ConnectOptions): Promise<Database> {
  if (dialect === "postgres") {
    const { openPostgres } = await import("./postgres.ts");
    return openPostgres({ url: options.database_url!, max_connections: options.max_connections });
  }
  mkdirSync(options.data_dir, { recursive: true, mode: 0o700 });
  const { openSqlite } = await import("./sqlite.ts");
  return openSqlite({ path: join(options.data_dir, "svc.db"), max_bytes: options.max_bytes });
}
