/**
 * Logs and result streams: stored in pieces while the job runs, each under the offset of its first character, so that
 * the piece that holds an offset is found at once. What a job that runs here said last is read from its tail.
 */
import { and, asc, desc, eq, lte } from "drizzle-orm";
import { sharedStatement, statement, type Tx } from "../../../database/database.ts";
import { sql } from "../../../database/kit.ts";
import type { App } from "../../../platform/app/context.ts";
import { cut, sliceFrom, type TextWindow } from "../../../platform/events/text-window.ts";
import { type Job, jobLogs, jobStreams } from "../../../platform/queue/tables.ts";
import { logHeader } from "./log-header.ts";

/** What a job says: its log, or its result stream. */
export type Said = "log" | "stream";

type Piece = { job_id: string; seq: number; content: string };

/** Most characters of a stored piece: what a reader that is behind loads at a time. */
const STORED_PIECE = 65_536;

const p = sql.placeholder;

function statementsOf(table: typeof jobLogs | typeof jobStreams) {
  const values = { job_id: p("job_id"), seq: p("seq"), content: p("content") } as unknown as Piece;
  return {
    /** One that was stored in a commit nobody heard of is stored once more, with what has been said since. */
    insert: sharedStatement<Piece, unknown>(
      (q) =>
        q
          .insert(table)
          .values(values)
          .onConflictDoUpdate({
            target: [table.job_id, table.seq],
            set: { content: sql`excluded.content` },
          }),
      () => undefined,
    ),
    /** The piece that holds an offset; the last one when the text is shorter. */
    pieceAt: statement<{ job_id: string; offset: number }, Omit<Piece, "job_id">[]>((q) =>
      q
        .select({ seq: table.seq, content: table.content })
        .from(table)
        .where(and(eq(table.job_id, p("job_id")), lte(table.seq, p("offset"))))
        .orderBy(desc(table.seq))
        .limit(1),
    ),
  };
}
const statements = { log: statementsOf(jobLogs), stream: statementsOf(jobStreams) };

/**
 * Stores a text from an offset on, where the pieces before it end.
 * @returns the offset up to which it is stored once the transaction is committed
 */
export async function storeText(
  tx: Tx,
  said: Said,
  job_id: string,
  text: TextWindow,
  from: number,
): Promise<number> {
  let seq = from;
  for (;;) {
    const content = text.from(seq, STORED_PIECE);
    if (!content) return seq;
    await tx.exec(statements[said].insert, { job_id, seq, content });
    seq += content.length;
  }
}

/** What is stored of a text from an offset on: less than `most` characters only when there are no more. */
export async function readStored(
  app: App,
  said: Said,
  job_id: string,
  offset: number,
  most: number,
): Promise<string> {
  let text = "";
  while (text.length < most) {
    const at = offset + text.length;
    const [piece] = await app.db.read.exec(statements[said].pieceAt, { job_id, offset: at });
    const more = piece ? sliceFrom(piece.content, at - Number(piece.seq)) : "";
    if (more === "") break;
    text += more;
  }
  return cut(text, most);
}

/** A text from an offset up to now: what is stored, and what a job that runs here has said since. */
export async function readFrom(app: App, said: Said, job_id: string, offset: number): Promise<string> {
  const all = Number.POSITIVE_INFINITY;
  const tail = app.events.tail(job_id);
  const live = tail?.[said].from(offset, all);
  if (live !== undefined) return live;
  let text = await readStored(app, said, job_id, offset, all);
  if (!tail) return text;
  for (;;) {
    const at = offset + text.length;
    const more = tail[said].from(at, all) ?? (await readStored(app, said, job_id, at, all));
    if (more === "") return text;
    text += more;
  }
}

/** A log from an offset on up to now, its header with it. */
export async function readLogFrom(app: App, job: Job, offset: number): Promise<string> {
  return withHeader(job, offset, await readFrom(app, "log", job.id, offset));
}

/** What was found of a log from an offset on; of one that says nothing there is the header alone. */
export function withHeader(job: Job, offset: number, found: string): string {
  if (found !== "" || job.state !== "completed" || job.deleted) return found;
  return logHeader(job, job.isolation).slice(offset);
}

/** The whole log up to now. */
export async function readLog(app: App, job: Job): Promise<string> {
  if (app.events.tail(job.id)) return readFrom(app, "log", job.id, 0);
  const pieces = await app.db.read
    .select({ content: jobLogs.content })
    .from(jobLogs)
    .where(eq(jobLogs.job_id, job.id))
    .orderBy(asc(jobLogs.seq));
  return withHeader(job, 0, pieces.map((piece) => piece.content).join(""));
}
