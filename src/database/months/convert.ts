/**
 * Converts the tables of jobs into tables with a partition for each month, in one transaction and while no server runs.
 * Columns, constraints and indexes stay as they are. The rows are copied first and indexed then, which is faster.
 */
import { sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { BadRequest } from "../../lib/errors.ts";
import { type Connection, connectToPostgres, requireUnused } from "../backup/postgres-backup.ts";
import { compareMigrations, MIGRATION_LOCK_ID } from "../migrations/migrate.ts";
import { getMonthOf, isInRange, isOutside, type JobTable, type Month } from "./month.ts";
import { formatBounds, getDefaultPartitionName, listComingMonths, partitionName } from "./partitions.ts";

/** Older jobs have no partition of their own: they are in the default partition. */
const MAX_PAST_MONTHS = 120;

export interface PartitionSummary {
  /** Tables converted now; none if all were partitioned. */
  tables: number;
  rows: number;
  /** Partitions of each table, except the default one. */
  months: number;
  /** Why the converted tables could not be vacuumed; they are converted all the same. */
  vacuum_error?: string;
  took_ms: number;
}

export interface PartitionProgress {
  table: string;
  /** Such as `2026_11`. */
  month: string;
  rows: number;
}

type Run = Connection["run"];

/**
 * Partitions the tables that are not partitioned yet.
 * @param tables that of the jobs comes first
 * @throws BadRequest, without changes, if a server is connected, the schema is of another version, or a table has
 * triggers
 */
export async function partitionByMonth(
  url: string,
  tables: readonly JobTable[],
  now: Date,
  onProgress: (progress: PartitionProgress) => void,
): Promise<PartitionSummary> {
  const { run, close } = await connectToPostgres(url);
  const began = performance.now();
  try {
    await run("BEGIN");
    await requireUnused(run);
    await run(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK_ID})`);
    await requireCurrentSchema(run);
    await run("SET LOCAL lock_timeout = '10s'");
    await run("SET LOCAL maintenance_work_mem = '256MB'");
    const months = await findMonths(run, tables[0]!, now);
    const progress = { table: "", month: "", rows: 0 };
    let converted = 0;
    for (const table of tables) {
      if (await isPartitioned(run, table)) continue;
      progress.table = table.table;
      await convert(run, table, months, (month, rows) => {
        progress.month = month;
        progress.rows += rows;
        onProgress(progress);
      });
      converted++;
    }
    await run("COMMIT");
    const vacuum_error = converted > 0 ? await vacuum(run, tables) : undefined;
    const took_ms = Math.round(performance.now() - began);
    return {
      tables: converted,
      rows: progress.rows,
      months: months.length,
      ...(vacuum_error === undefined ? {} : { vacuum_error }),
      took_ms,
    };
  } finally {
    // Closing rolls back what is not committed.
    await close();
  }
}

/**
 * Vacuums the tables, whose rows are new to PostgreSQL: until a vacuum has seen them, each count reads all of them.
 * @returns why it failed, which undoes no conversion
 */
async function vacuum(run: Run, tables: readonly JobTable[]): Promise<string | undefined> {
  try {
    await run(`VACUUM (ANALYZE) ${tables.map(({ table }) => `"${table}"`).join(", ")}`);
    return undefined;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}

/** @throws BadRequest if the database holds no instance, or one of another version */
async function requireCurrentSchema(run: Run): Promise<void> {
  const [table] = await run<{ name: string | null }>("SELECT to_regclass('svc_migrations')::text AS name");
  if (!table?.name) throw new BadRequest("there is no instance in this database");
  const applied = await run<{ name: string }>("SELECT name FROM svc_migrations");
  const { missing, unknown } = compareMigrations(
    "postgres",
    applied.map(({ name }) => name),
  );
  if (missing.length + unknown.length === 0) return;
  throw new BadRequest("the database is of another version of svc", {
    hint: "start svc serve of this version on it once, and stop it",
  });
}

async function isPartitioned(run: Run, { table }: JobTable): Promise<boolean> {
  const rows = await run("SELECT 1 FROM pg_partitioned_table WHERE partrelid = $1::text::regclass", [
    `"${table}"`,
  ]);
  return rows.length > 0;
}

/** Returns the months that hold jobs, and the coming ones. */
async function findMonths(run: Run, jobs: JobTable, now: Date): Promise<Month[]> {
  const past = Array.from({ length: MAX_PAST_MONTHS }, (_, index) =>
    getMonthOf(now, index - MAX_PAST_MONTHS),
  );
  const found = await run<{ name: string }>(
    `SELECT name FROM json_to_recordset($1::text::json) AS month(name text, "from" text, "to" text)
     WHERE EXISTS (SELECT 1 FROM "${jobs.table}" WHERE "${jobs.key}" >= month."from" AND "${jobs.key}" < month."to")`,
    [JSON.stringify(past)],
  );
  const names = new Set(found.map(({ name }) => name));
  return [...past.filter(({ name }) => names.has(name)), ...listComingMonths(now)];
}

async function convert(
  run: Run,
  table: JobTable,
  months: readonly Month[],
  tell: (month: string, rows: number) => void,
): Promise<void> {
  const name = `"${table.table}"`;
  const old = `"${table.table}_unpartitioned"`;
  await run(`LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`);
  const after = await describeTable(run, table);
  await run(`ALTER TABLE ${name} RENAME TO ${old}`);
  await run(
    `CREATE TABLE ${name} (LIKE ${old} INCLUDING ALL EXCLUDING INDEXES) PARTITION BY RANGE ("${table.key}")`,
  );
  for (const month of months) {
    const { sql: range } = toText(formatBounds(month));
    await run(`CREATE TABLE "${partitionName(table, month)}" PARTITION OF ${name} FOR VALUES ${range}`);
  }
  await run(`CREATE TABLE "${getDefaultPartitionName(table)}" PARTITION OF ${name} DEFAULT`);
  let rows = 0;
  const copy = async (to: string, month: string, where: ReturnType<typeof toText>) => {
    await run(`INSERT INTO "${to}" SELECT * FROM ${old} WHERE ${where.sql}`, where.params);
    const [copied] = await run<{ rows: string }>(`SELECT count(*) AS rows FROM "${to}"`);
    rows += Number(copied!.rows);
    tell(month, Number(copied!.rows));
  };
  const key = sql.identifier(table.key);
  for (const month of months)
    await copy(partitionName(table, month), month.name, toText(isInRange(key, month)));
  await copy(getDefaultPartitionName(table), "other ids", toText(isOutside(key, months)));
  const [all] = await run<{ rows: string }>(`SELECT count(*) AS rows FROM ${old}`);
  if (rows !== Number(all!.rows))
    throw new BadRequest(`${rows} of ${all!.rows} rows of ${table.table} were copied: nothing was changed`);
  await run(`DROP TABLE ${old}`);
  for (const statement of after) await run(statement);
}

function toText(part: ReturnType<typeof isInRange>): { sql: string; params: unknown[] } {
  return new PgDialect().sqlToQuery(part);
}

/**
 * Returns the statements that give the new table what `LIKE` does not copy: the indexes under their own names, the
 * primary key, and the rights of other roles.
 * @throws BadRequest for triggers, which svc does not have
 */
async function describeTable(run: Run, { table, key }: JobTable): Promise<string[]> {
  const of = [`"${table}"`];
  const [trigger] = await run<{ name: string }>(
    "SELECT tgname AS name FROM pg_trigger WHERE tgrelid = $1::text::regclass AND NOT tgisinternal",
    of,
  );
  if (trigger) throw new BadRequest(`the table ${table} has the trigger ${trigger.name}: drop it first`);
  const indexes = await run<{ text: string }>(
    "SELECT pg_get_indexdef(indexrelid) AS text FROM pg_index WHERE indrelid = $1::text::regclass AND NOT indisprimary",
    of,
  );
  const primary = await run<{ name: string; column: string }>(
    `SELECT conname AS name, attname AS column FROM pg_constraint, unnest(conkey) WITH ORDINALITY AS part(number, place)
     JOIN pg_attribute ON attnum = part.number AND attrelid = $1::text::regclass
     WHERE conrelid = $1::text::regclass AND contype = 'p' ORDER BY place`,
    of,
  );
  // The key of a partitioned table must contain the column that it is partitioned by.
  const columns = new Set([...primary.map(({ column }) => column), key]);
  const rights = await run<{ text: string }>(
    `SELECT format('GRANT %s ON %I TO %s', privilege_type, $2::text,
       CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END) AS text
     FROM pg_class, aclexplode(relacl) WHERE oid = $1::text::regclass AND grantee <> relowner`,
    [...of, table],
  );
  return [
    ...indexes.map(({ text }) => text),
    `ALTER TABLE "${table}" ADD CONSTRAINT "${primary[0]!.name}" PRIMARY KEY (${[...columns].map((column) => `"${column}"`).join(", ")})`,
    ...rights.map(({ text }) => text),
  ];
}
