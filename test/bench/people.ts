/**
 * Lists and `whoami` beside 10,000 users, 1,000 workspaces and 100,000 scripts: they must take about as long as in an
 * instance with one user and one workspace. Once more with all the scripts in the caller's own workspace, of which the
 * caller may read a few.
 *
 *   bun test/bench/people.ts        by itself, after `bun run build`
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type Bench, startServer } from "./tools/processes.ts";

/** As `record` of run.ts takes it. */
interface Figure {
  what: string;
  measured: string;
  floor: string;
  ratio: number;
  target: string;
  holds: boolean;
}

const USERS = 10_000;
const WORKSPACES = 1_000;
const SCRIPTS = 100_000;
/** Number of rows that the caller may read, in every list: one page. */
const OWN = 30;

const CALLS = {
  "scripts/list": "/w/acme/scripts/list?per_page=30",
  "users/whoami of a workspace": "/w/acme/users/whoami",
  "users/whoami": "/users/whoami",
  "workspaces/list": "/workspaces/list",
};

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const ms = (value: number) => `${value.toFixed(2)} ms`;

/** @param scale share of the requests that is made, for a quick look */
export async function people(scale = 1): Promise<Figure[]> {
  const rounds = Math.max(20, Math.round(200 * scale));
  const empty = await beside(() => {});
  const full = await beside(others);
  const crowded = await beside((database) => scripts(database, "'acme'", SCRIPTS, "'u/user' || i"));
  try {
    const figures: Figure[] = [];
    for (const [name, path] of Object.entries(CALLS)) {
      const took = await alternating({ empty, full }, path, rounds);
      figures.push(figure(`${name} beside 10,000 × 1,000 × 100,000`, took.empty!, took.full!));
    }
    const took = await alternating({ empty, crowded }, CALLS["scripts/list"], rounds);
    figures.push(figure("scripts/list beside 100,000 that are others'", took.empty!, took.crowded!));
    return figures;
  } finally {
    for (const server of [empty, full, crowded]) await server.stop();
  }
}

function figure(what: string, empty: number, measured: number): Figure {
  const ratio = measured / empty;
  return {
    what: `${what}, p50`,
    measured: ms(measured),
    floor: `in an empty instance ${ms(empty)}`,
    ratio,
    target: "<= 2 × empty",
    holds: ratio <= 2,
  };
}

/** A server whose caller is a developer with some scripts, and more rows stored before the first call. */
async function beside(fill: (database: Database) => void): Promise<Bench> {
  const server = await startServer();
  const database = new Database(join(server.data_dir, "svc.db"));
  database.run("PRAGMA busy_timeout = 60000");
  database.run("PRAGMA synchronous = OFF");
  database.transaction(() => {
    database.run("UPDATE workspace_members SET is_admin = 0");
    fill(database);
    scripts(database, "'acme'", OWN, "'u/ann'");
  })();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return server;
}

const series = (count: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`;

/** Ten people and a hundred scripts a workspace. */
function others(database: Database): void {
  const now = Date.now();
  database.run(`INSERT INTO users (email, login_type, super_admin, devops, verified, first_time_user, created_at)
    ${series(USERS)} SELECT 'user' || i || '@example.org', 'password', 0, 0, 1, 0, ${now} FROM n`);
  database.run(`INSERT INTO workspaces (id, name, owner, archived, created_at, wrapped_key)
    ${series(WORKSPACES)} SELECT 'w' || i, 'w' || i, 'user' || i || '@example.org', 0, ${now}, '' FROM n`);
  database.run(`INSERT INTO workspace_members (workspace_id, email, username, is_admin, operator, disabled, created_at)
    ${series(USERS)} SELECT 'w' || (i % ${WORKSPACES}), 'user' || i || '@example.org', 'user' || i, 0, 0, 0, ${now} FROM n`);
  scripts(database, `'w' || (i % ${WORKSPACES})`, SCRIPTS, "'u/user' || i");
}

/** @param workspace, place SQL over `i`, the number of the script */
function scripts(database: Database, workspace: string, count: number, place: string): void {
  const content = "export function main() {}\\n".repeat(20);
  database.run(`INSERT INTO scripts (workspace_id, hash, path, parent_hashes, summary, description, content, schema,
      parameters, language, kind, is_template, lock, ready, envs, delete_after_use, dedicated_worker,
      restart_unless_cancelled, visible_to_runner_only, ws_error_handler_muted, isolation, no_main_func,
      has_preprocessor, created_by, created_at, archived, deleted, extra_perms)
    ${series(count)} SELECT ${workspace}, printf('%016x', i + random()), ${place} || '/script' || i, '[]', '', '',
      '${content}', '{}', '[]', 'bun', 'script', 0, '', 1, '[]', 0, 0, 0, 0, 0, 'shared', 0, 0, 'ann', ${Date.now()},
      0, 0, CASE WHEN i % 100 = 0 THEN '{"u/nobody":true}' ELSE '{}' END FROM n`);
}

/** Calls them alternately, under the same load. @returns medians, in ms */
async function alternating(servers: Record<string, Bench>, path: string, rounds: number) {
  const took: Record<string, number[]> = {};
  for (let round = -10; round < rounds; round++) {
    for (const [name, server] of Object.entries(servers)) {
      const began = performance.now();
      await ask(server, path);
      const spent = performance.now() - began;
      if (round >= 0) took[name] = [...(took[name] ?? []), spent];
    }
  }
  return Object.fromEntries(Object.entries(took).map(([name, values]) => [name, median(values)]));
}

async function ask({ url, token }: Bench, path: string): Promise<void> {
  const answer = await fetch(`${url}/api${path}`, { headers: { authorization: `Bearer ${token}` } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
}

if (import.meta.main) {
  for (const { what, measured, floor, ratio, target, holds } of await people()) {
    process.stdout.write(
      `${[what, measured, floor, ratio.toFixed(2), target, holds ? "holds" : "MISSED"].join(" | ")}\n`,
    );
  }
}
