/**
 * Moves an embedded instance to PostgreSQL. It copies and compares a consistent snapshot in one transaction, which a
 * dry run rolls back. The old file stays unchanged; a marker beside it stops servers from using it by mistake.
 */
import { join } from "node:path";
import { BadRequest, SvcError, Unavailable } from "../../lib/errors.ts";
import { lockDirectory } from "../../lib/files/directory-lock.ts";
import { isOutage } from "../failure.ts";
import { migrations } from "../migrations/index.ts";
import {
  getMovedMarkerPath,
  type MovedMarker,
  removeMovedMarker,
  writeMovedMarker,
} from "../moved-marker.ts";
import { createOutageError } from "../open-database.ts";
import type { BackupProgress, DataLocation } from "./backup.ts";
import { type Cell, createNewerBackupError, encodeLine, type TableHead } from "./format.ts";
import { openPostgresTarget, type PostgresRestoreTarget } from "./postgres-backup.ts";
import type { Snapshot } from "./snapshot.ts";
import { snapshotSqlite } from "./sqlite-backup.ts";
import { readStoredFiles } from "./stored-files.ts";

export interface MoveSummary {
  /** Target URL without the password. */
  to: string;
  tables: number;
  rows: number;
  /** Duration of copying and comparing in milliseconds. */
  took_ms: number;
  /** Number of workspace files, which stay in the data directory. */
  files: number;
  /** A dry run: nothing was kept. */
  dry_run: boolean;
}

/**
 * Moves the embedded database to PostgreSQL.
 * @param url of the PostgreSQL database
 * @param options.dry_run does everything but the commit; the server may keep running
 * @param options.force replaces an existing instance in the target
 * @throws BadRequest, without changes, if either database is in use, there is nothing to move, or the target holds
 * rows; Unavailable if the connection broke during the commit
 */
export async function moveToPostgres(
  { data_dir }: Pick<DataLocation, "data_dir">,
  url: string,
  options: { dry_run: boolean; force: boolean; onProgress: (progress: BackupProgress) => void },
): Promise<MoveSummary> {
  const to = withoutPassword(url);
  const lock = options.dry_run ? undefined : lockDirectory(data_dir, "svc migrate-to");
  try {
    const snapshot = snapshotSqlite(join(data_dir, "svc.db"));
    try {
      const began = performance.now();
      const filling = await openTarget(snapshot, url, options.force).catch((cause) => {
        throw isOutage(cause) ? createOutageError(url, cause) : cause;
      });
      const progress: BackupProgress = { at: "", rows: 0, files: 0 };
      try {
        await copyTables(snapshot, filling, progress, options.onProgress);
        if (options.dry_run) await filling.abort();
        else await commitMove(data_dir, { to, at: new Date().toISOString() }, filling);
      } catch (cause) {
        await filling.abort();
        throw explainRefusal(cause, progress.at);
      }
      const took_ms = Math.round(performance.now() - began);
      const files = await countFiles(data_dir);
      return {
        to,
        tables: snapshot.tables.length,
        rows: progress.rows,
        took_ms,
        files,
        dry_run: options.dry_run,
      };
    } finally {
      await snapshot.close();
    }
  } finally {
    lock?.release();
  }
}

function openTarget(snapshot: Snapshot, url: string, force: boolean): Promise<PostgresRestoreTarget> {
  const known = migrations.sqlite.map(({ name }) => name);
  const unknown = snapshot.migrations.find((name, index) => known[index] !== name);
  if (unknown !== undefined)
    throw createNewerBackupError(`the database has migration ${unknown}, which this one lacks`);
  const through = snapshot.migrations.length;
  const before = migrations.postgres.slice(0, through);
  return openPostgresTarget({ url, force, before, after: migrations.postgres.slice(through) });
}

/** Copies every table and reads it back. @throws BadRequest if the copy differs */
async function copyTables(
  snapshot: Snapshot,
  filling: PostgresRestoreTarget,
  progress: BackupProgress,
  onProgress: (progress: BackupProgress) => void,
): Promise<void> {
  for (const head of snapshot.tables) {
    progress.at = head.table;
    const here = new RowSum();
    await filling.table(head);
    for await (const cells of snapshot.rows(head)) {
      here.add(cells);
      await filling.row(cells);
      progress.rows++;
      if (progress.rows % 1_000 === 0) onProgress(progress);
    }
    const there = await sumRows(filling, head);
    if (!there.equals(here)) {
      throw new BadRequest(
        `${head.table} is not the same there (${here.rows} rows here, ${there.rows} there): nothing was moved`,
        { hint: "look for triggers and rules in that database, or use an empty one" },
      );
    }
  }
}

async function sumRows(filling: PostgresRestoreTarget, head: TableHead): Promise<RowSum> {
  const sum = new RowSum();
  for await (const cells of filling.rows(head)) sum.add(cells);
  return sum;
}

const SUM_BITS = 128;

/** Order-independent checksum of a table: the number of rows and the sum of their digests. */
class RowSum {
  rows = 0;
  #sum = 0n;

  add(cells: Cell[]): void {
    const digest = new Bun.CryptoHasher("sha256").update(encodeLine({ kind: "row", cells })).digest("hex");
    this.rows++;
    this.#sum = BigInt.asUintN(SUM_BITS, this.#sum + BigInt(`0x${digest.slice(0, SUM_BITS / 4)}`));
  }

  equals(other: RowSum): boolean {
    return this.rows === other.rows && this.#sum === other.#sum;
  }
}

/** Writes the marker before the commit: a crash in between leaves no instance in use, rather than two. */
async function commitMove(
  data_dir: string,
  note: MovedMarker,
  filling: PostgresRestoreTarget,
): Promise<void> {
  await writeMovedMarker(data_dir, note);
  try {
    await filling.commit();
  } catch (cause) {
    if (!isPostgresError(cause)) {
      throw new Unavailable(
        "the connection to PostgreSQL was lost during the commit: the data may have been stored, or not",
        {
          cause,
          hint: `move again with --force, or remove ${getMovedMarkerPath(data_dir)} to keep using the old database`,
        },
      );
    }
    await removeMovedMarker(data_dir);
    throw cause;
  }
}

/** Whether PostgreSQL itself reported the error (SQLSTATE), as opposed to the connection. */
function isPostgresError(cause: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test((cause as { errno?: string }).errno ?? "");
}

async function countFiles(data_dir: string): Promise<number> {
  let files = 0;
  for await (const line of readStoredFiles(data_dir)) if (line.kind === "file") files++;
  return files;
}

/** Converts an error of the target into one that names the table, but not the statement with its rows. */
function explainRefusal(cause: unknown, table: string): unknown {
  if (cause instanceof SvcError || (cause as Error).name !== "PostgresError") return cause;
  return new BadRequest(
    `PostgreSQL refused the rows of ${table}: ${(cause as Error).message}; nothing was moved`,
    { cause },
  );
}

/** Returns the URL without its password, as `postgres://svc@host:5432/name`. @throws BadRequest for other URLs */
function withoutPassword(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^postgres(ql)?:$/.test(parsed.protocol) || parsed.pathname.length < 2) {
    throw new BadRequest("the target is not the URL of a PostgreSQL database", {
      hint: "it reads postgres://user:password@host:5432/database",
    });
  }
  parsed.password = "";
  parsed.search = "";
  return parsed.href;
}
