/**
 * Moves an embedded instance to PostgreSQL: one moment of its database, copied and compared row by row in one
 * transaction there, which is kept or, in a trial, rolled back. The old file stays as it was; a note beside it keeps a
 * server from going on with it by mistake.
 */
import { join } from "node:path";
import { BadRequest, SvcError, Unavailable } from "../../lib/errors.ts";
import { lockDirectory } from "../../lib/files/directory-lock.ts";
import { outageAt } from "../connect.ts";
import { isOutage } from "../failure.ts";
import { migrations } from "../migrations/index.ts";
import { type MoveNote, movedNote, noteMove, removeMoveNote } from "../moved-marker.ts";
import type { Place, Progress } from "./backup.ts";
import { type Cell, encodeLine, newer, type TableHead } from "./format.ts";
import { fillPostgres, type PostgresFilling } from "./postgres.ts";
import type { Snapshot } from "./snapshot.ts";
import { snapshotSqlite } from "./sqlite.ts";
import { storedFiles } from "./stored-files.ts";

export interface Moved {
  /** Where to, without a password. */
  to: string;
  tables: number;
  rows: number;
  /** Milliseconds that copying and comparing took. */
  took_ms: number;
  /** Files of workspaces in the data directory: they stay there. */
  files: number;
  /** Nothing was kept: it was a trial. */
  dry_run: boolean;
}

/**
 * @param url of the PostgreSQL database
 * @param options.dry_run does all of it and keeps nothing; the server may go on meanwhile
 * @param options.force replaces what an instance there holds
 * @throws BadRequest when a server works on either side, when there is nothing to move, or when the target holds rows;
 * nothing has changed on either side then. Unavailable when the connection broke in the last moment
 */
export async function moveToPostgres(
  { data_dir }: Pick<Place, "data_dir">,
  url: string,
  options: { dry_run: boolean; force: boolean; onProgress: (progress: Progress) => void },
): Promise<Moved> {
  const to = withoutPassword(url);
  const lock = options.dry_run ? undefined : lockDirectory(data_dir, "svc migrate-to");
  try {
    const snapshot = snapshotSqlite(join(data_dir, "svc.db"));
    try {
      const began = performance.now();
      const filling = await openTarget(snapshot, url, options.force).catch((cause) => {
        throw isOutage(cause) ? outageAt(url, cause) : cause;
      });
      const progress: Progress = { at: "", rows: 0, files: 0 };
      try {
        await copy(snapshot, filling, progress, options.onProgress);
        if (options.dry_run) await filling.abort();
        else await keep(data_dir, { to, at: new Date().toISOString() }, filling);
      } catch (cause) {
        await filling.abort();
        throw refusal(cause, progress.at);
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

function openTarget(snapshot: Snapshot, url: string, force: boolean): Promise<PostgresFilling> {
  const known = migrations.sqlite.map(({ name }) => name);
  const unknown = snapshot.migrations.find((name, index) => known[index] !== name);
  if (unknown !== undefined) throw newer(`the database has migration ${unknown}, which this one lacks`);
  const through = snapshot.migrations.length;
  const before = migrations.postgres.slice(0, through);
  return fillPostgres({ url, force, before, after: migrations.postgres.slice(through) });
}

/** Copies every table, then reads it back. @throws BadRequest when a table there is not what it is here */
async function copy(
  snapshot: Snapshot,
  filling: PostgresFilling,
  progress: Progress,
  onProgress: (progress: Progress) => void,
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
    const there = await sumOf(filling, head);
    if (!there.equals(here)) {
      throw new BadRequest(
        `${head.table} is not the same there (${here.rows} rows here, ${there.rows} there): nothing was moved`,
        { hint: "look for triggers and rules in that database, or use an empty one" },
      );
    }
  }
}

async function sumOf(filling: PostgresFilling, head: TableHead): Promise<RowSum> {
  const sum = new RowSum();
  for await (const cells of filling.rows(head)) sum.add(cells);
  return sum;
}

const SUM_BITS = 128;

/** Tells whether two tables hold the same rows, in whatever order: how many, and the sum of their digests. */
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

/** The note comes first: between the two an instance that nobody goes on with is better than two. */
async function keep(data_dir: string, note: MoveNote, filling: PostgresFilling): Promise<void> {
  await noteMove(data_dir, note);
  try {
    await filling.commit();
  } catch (cause) {
    if (!wasRefused(cause)) {
      throw new Unavailable("PostgreSQL was lost while it stored what was moved: it may have it, or not", {
        cause,
        hint: `move again with --force, or remove ${movedNote(data_dir)} to keep using the old database`,
      });
    }
    await removeMoveNote(data_dir);
    throw cause;
  }
}

/** Whether PostgreSQL itself said no (an SQLSTATE), rather than the way to it. */
function wasRefused(cause: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test((cause as { errno?: string }).errno ?? "");
}

async function countFiles(data_dir: string): Promise<number> {
  let files = 0;
  for await (const line of storedFiles(data_dir)) if (line.kind === "file") files++;
  return files;
}

/** What the database there refuses is told with the table; the statement with its rows is not. */
function refusal(cause: unknown, table: string): unknown {
  if (cause instanceof SvcError || (cause as Error).name !== "PostgresError") return cause;
  return new BadRequest(
    `PostgreSQL refused the rows of ${table}: ${(cause as Error).message}; nothing was moved`,
    { cause },
  );
}

/** `postgres://svc@host:5432/name`. @throws BadRequest for what is no such URL */
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
