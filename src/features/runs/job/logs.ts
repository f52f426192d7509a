/**
 * Logs and result streams, stored in pieces while the job runs. A piece's key is the offset of its first character, so
 * any offset is found by one index look-up. The newest text of a job that runs here is read from its tail.
 */
import { and, asc, desc, eq, lte } from "drizzle-orm";
import { prepareBatchedStatement, prepareStatement, type Tx } from "../../../database/database.ts";
import { sql } from "../../../database/kit.ts";
import type { App } from "../../../platform/app/context.ts";
import { sliceTextFrom, type TextWindow, truncateText } from "../../../platform/events/text-window.ts";
import { type Job, jobLogs, jobStreams } from "../../../platform/queue/tables.ts";
import { expandIsolation } from "./isolation.ts";
import { formatLogHeader } from "./log-header.ts";

/** The kinds of output: log and result stream. */
export type OutputKind = "log" | "stream";

type OutputPiece = { job_id: string; seq: number; content: string };

/** Maximum characters of a stored piece, which is also the unit of reading. */
const MAX_PIECE_CHARS = 65_536;

const placeholder = sql.placeholder;

function createStatements(table: typeof jobLogs | typeof jobStreams) {
  const values = {
    job_id: placeholder("job_id"),
    seq: placeholder("seq"),
    content: placeholder("content"),
  } as unknown as OutputPiece;
  return {
    /** Upserts a piece: after a commit whose acknowledgement was lost it is stored again, with later text. */
    insert: prepareBatchedStatement<OutputPiece, unknown>(
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
    /** Finds the piece that contains an offset, or the last piece if the text is shorter. */
    pieceAt: prepareStatement<{ job_id: string; offset: number }, Omit<OutputPiece, "job_id">[]>((q) =>
      q
        .select({ seq: table.seq, content: table.content })
        .from(table)
        .where(and(eq(table.job_id, placeholder("job_id")), lte(table.seq, placeholder("offset"))))
        .orderBy(desc(table.seq))
        .limit(1),
    ),
  };
}
const statements = { log: createStatements(jobLogs), stream: createStatements(jobStreams) };

/**
 * Stores a text from an offset on; earlier pieces must end there.
 * @returns the offset up to which it is stored once the transaction commits
 */
export async function storeOutput(
  tx: Tx,
  kind: OutputKind,
  job_id: string,
  text: TextWindow,
  from: number,
): Promise<number> {
  let seq = from;
  for (;;) {
    const content = text.textFrom(seq, MAX_PIECE_CHARS);
    if (!content) return seq;
    await tx.exec(statements[kind].insert, { job_id, seq, content });
    seq += content.length;
  }
}

/** Reads stored text from an offset on. It is shorter than `limit` characters only at the end of the text. */
export async function readStoredOutput(
  app: App,
  kind: OutputKind,
  job_id: string,
  offset: number,
  limit: number,
): Promise<string> {
  let text = "";
  while (text.length < limit) {
    const at = offset + text.length;
    const [piece] = await app.db.read.exec(statements[kind].pieceAt, { job_id, offset: at });
    const more = piece ? sliceTextFrom(piece.content, at - Number(piece.seq)) : "";
    if (more === "") break;
    text += more;
  }
  return truncateText(text, limit);
}

/** Reads text from an offset up to now: stored pieces, then the tail of a job that runs here. */
export async function readOutput(
  app: App,
  kind: OutputKind,
  job_id: string,
  offset: number,
): Promise<string> {
  const all = Number.POSITIVE_INFINITY;
  const tail = app.events.findTail(job_id);
  const live = tail?.[kind].textFrom(offset, all);
  if (live !== undefined) return live;
  let text = await readStoredOutput(app, kind, job_id, offset, all);
  if (!tail) return text;
  for (;;) {
    const at = offset + text.length;
    const more = tail[kind].textFrom(at, all) ?? (await readStoredOutput(app, kind, job_id, at, all));
    if (more === "") return text;
    text += more;
  }
}

/** Reads a log from an offset up to now, including its header. */
export async function readLogFrom(app: App, job: Job, offset: number): Promise<string> {
  return addLogHeader(job, offset, await readOutput(app, "log", job.id, offset));
}

/** Adds the header to a log that is otherwise empty. */
export function addLogHeader(job: Job, offset: number, found: string): string {
  if (found !== "" || job.state !== "completed" || job.deleted) return found;
  return formatLogHeader(job, expandIsolation(job.isolation)).slice(offset);
}

/** Reads the whole log up to now. */
export async function readLog(app: App, job: Job): Promise<string> {
  if (app.events.findTail(job.id)) return readOutput(app, "log", job.id, 0);
  const pieces = await app.db.read
    .select({ content: jobLogs.content })
    .from(jobLogs)
    .where(eq(jobLogs.job_id, job.id))
    .orderBy(asc(jobLogs.seq));
  return addLogHeader(job, 0, pieces.map((piece) => piece.content).join(""));
}
