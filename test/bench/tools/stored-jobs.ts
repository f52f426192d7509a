/** Jobs inserted by SQL while the server runs, because running as many would take hours. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { SQL } from "bun";

const PER_STATEMENT = 250_000;
const DAY_MS = 86_400_000;

/**
 * Stores completed jobs of the workspace `acme`, spread evenly over the last days.
 * @param database_url of PostgreSQL; undefined: the embedded database of `data_dir`
 */
export async function storeHistory(
  data_dir: string,
  database_url: string | undefined,
  count: number,
  days: number,
): Promise<void> {
  const isPostgres = database_url !== undefined;
  const from = Date.now() - days * DAY_MS;
  const step = (days * DAY_MS) / count;
  const statements = Array.from({ length: Math.ceil(count / PER_STATEMENT) }, (_, n) => {
    const first = n * PER_STATEMENT;
    return insertJobs({ isPostgres, first, last: Math.min(count, first + PER_STATEMENT) - 1, from, step });
  });
  if (isPostgres) {
    const client = new SQL(database_url);
    for (const statement of statements) await client.unsafe(statement);
    await client.unsafe("VACUUM ANALYZE jobs");
    await client.end();
    return;
  }
  const database = new Database(join(data_dir, "svc.db"));
  database.run("PRAGMA busy_timeout = 60000");
  database.run("PRAGMA synchronous = OFF");
  database.run("PRAGMA cache_size = -500000");
  for (const statement of statements) {
    database.run(statement);
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  database.close();
}

interface Rows {
  isPostgres: boolean;
  first: number;
  last: number;
  /** Time of job 0 in milliseconds since 1970, and the interval between jobs. */
  from: number;
  step: number;
}

function insertJobs({ isPostgres, first, last, from, step }: Rows): string {
  const numbers = isPostgres
    ? `WITH n(i) AS (SELECT generate_series(${first}::bigint, ${last}))`
    : `WITH RECURSIVE n(i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${last})`;
  const ms = isPostgres ? `(${from} + i * ${step})::bigint` : `CAST(${from} + i * ${step} AS INTEGER)`;
  const at = isPostgres ? `to_timestamp(${ms} / 1000.0)` : ms;
  const hex = (value: string, width: number) =>
    isPostgres ? `lpad(to_hex(${value}), ${width}, '0')` : `printf('%0${width}x', ${value})`;
  // UUIDs of version 7 (RFC 9562), which start with the time.
  const id = `${hex(`${ms} >> 16`, 8)} || '-' || ${hex(`${ms} & 65535`, 4)} || '-7000-8000-' || ${hex("i", 12)}`;
  const values = {
    id,
    workspace_id: "'acme'",
    kind: "'script'",
    state: "'completed'",
    status: "CASE WHEN i % 50 = 0 THEN 'failure' ELSE 'success' END",
    created_by: "'user' || (i % 20)",
    permissioned_as: "'u/ann'",
    email: "'ann@example.org'",
    created_at: at,
    scheduled_for: at,
    started_at: at,
    completed_at: at,
    duration_ms: "3",
    script_path: "'u/ann/script' || (i % 100)",
    script_hash: "'00000000000000aa'",
    language: "'bun'",
    tag: "'bun'",
    args: `'{"kind":' || (i % 10) || ',"name":"Bob","text":"${"x".repeat(100)}"}'`,
    result: `'{"hello":"Bob"}'`,
  };
  return `INSERT INTO jobs (${Object.keys(values)}) ${numbers} SELECT ${Object.values(values)} FROM n`;
}
