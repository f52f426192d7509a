/** More jobs than a test can run: inserted into the embedded database while its server runs. */
import { Database } from "bun:sqlite";
import { join } from "node:path";

export const QUEUED = 10_000;
export const DAY = 86_400_000;

/**
 * Stores jobs while the server runs, created a month ago and later. The queued ones are the newest, with
 * completed ones among them, and due tomorrow, so that they do not run.
 */
export function storeJobs(data_dir: string, completed: number): void {
  const database = new Database(join(data_dir, "svc.db"));
  database.run("PRAGMA busy_timeout = 60000");
  database.run("PRAGMA synchronous = OFF");
  const end = Date.now() - 30 * DAY;
  const rows = (count: number, state: "queued" | "completed") => {
    const queued = state === "queued";
    const step = Math.max(1, QUEUED / count);
    const at = `(${end} - (${count} - i) * ${step})`;
    return `INSERT INTO jobs (id, workspace_id, kind, state, status, created_by, permissioned_as, email, created_at,
      scheduled_for, started_at, completed_at, duration_ms, script_path, script_hash, language, tag, args, result, worker, labels)
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})
      SELECT printf('%08x-%04x-7%03x-${queued ? "9" : "8"}000-%012x', ${at} >> 16, ${at} & 65535, i % 4096, i),
        'acme', 'script', '${state}', ${queued ? "NULL" : "CASE WHEN i % 20 = 0 THEN 'failure' ELSE 'success' END"},
        'user' || (i % 20), 'u/ann', 'ann@example.org', ${at},
        ${queued ? Date.now() + DAY : at}, ${queued ? "NULL" : at}, ${queued ? "NULL" : at}, ${queued ? "NULL" : 3},
        'u/ann/script' || (i % 20), '00000000000000aa', 'bun', 'tag' || (i % 10),
        '{"kind":' || (i % 10) || ',"name":"Bob","text":"' || hex(zeroblob(100)) || '"}',
        ${queued ? "NULL" : `'{"hello":"Bob"}'`}, ${queued ? "NULL" : "'host-1'"},
        ${queued ? "NULL" : `CASE WHEN i % 2 = 0 THEN '["label' || (i / 2 % 10) || '"]' END`} FROM n`;
  };
  database.transaction(() => {
    database.run(rows(completed, "completed"));
    database.run(rows(QUEUED, "queued"));
  })();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

/**
 * Fills the full-text index with the completed jobs of `storeJobs` while the server runs, as the server does:
 * `bob` is in all of them, `item` and its number in one, `needle` in none.
 */
export function indexJobs(data_dir: string): void {
  const database = new Database(join(data_dir, "svc.db"));
  database.run("PRAGMA busy_timeout = 60000");
  database.run("PRAGMA synchronous = OFF");
  const index = database.transaction(() => {
    // Entries that the server has indexed meanwhile.
    database.run("DELETE FROM job_search");
    // As `listJobWords` creates them; ids follow the order of creation.
    database.run(`INSERT INTO job_search (id, job_id, workspace_id, words)
      SELECT created_at * 1024 + row_number() OVER (PARTITION BY created_at ORDER BY id) - 1, id, workspace_id,
        replace(id, '-', ' ') || ' ' || replace(script_path, '/', ' ') || ' ' || created_by || ' kind ' ||
        json_extract(args, '$.kind') || ' name bob text item' || rowid || ' hello bob'
      FROM jobs WHERE state = 'completed' ORDER BY created_at, id`);
    database.run(`INSERT INTO job_search_progress (id, completed_at, job_id, last_job, oldest)
      SELECT 1, max(completed_at), '', max(id), NULL FROM jobs WHERE state = 'completed'
      ON CONFLICT (id) DO UPDATE SET completed_at = excluded.completed_at, last_job = excluded.last_job, oldest = NULL`);
  });
  index.immediate();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}
