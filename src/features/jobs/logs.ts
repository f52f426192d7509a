/** Logs and result streams: tailed from memory while the job runs here, read from the database afterwards. */
import { asc, eq } from "drizzle-orm";
import type { App } from "../../context.ts";
import { statement, type Tx } from "../../database/database.ts";
import { sql } from "../../database/kit.ts";
import { jobLogs, jobStreams } from "../../queue/tables.ts";

type Piece = { job_id: string; seq: number; content: string };

const p = sql.placeholder;
const values = { job_id: p("job_id"), seq: p("seq"), content: p("content") } as unknown as Piece;
const insertLog = statement<Piece, unknown>((q) => q.insert(jobLogs).values(values));
const insertStream = statement<Piece, unknown>((q) => q.insert(jobStreams).values(values));

export async function storeLogPiece(tx: Tx, piece: Piece): Promise<void> {
  await tx.exec(insertLog, piece);
}

export async function storeStreamPiece(tx: Tx, piece: Piece): Promise<void> {
  await tx.exec(insertStream, piece);
}

/** The whole log up to now. */
export async function readLog(app: App, job_id: string): Promise<string> {
  const tail = app.events.tail(job_id);
  if (tail) return tail.log;
  return join(
    await app.db.read.select().from(jobLogs).where(eq(jobLogs.job_id, job_id)).orderBy(asc(jobLogs.seq)),
  );
}

/** The whole result stream up to now. */
export async function readStream(app: App, job_id: string): Promise<string> {
  const tail = app.events.tail(job_id);
  if (tail) return tail.stream;
  return join(
    await app.db.read
      .select()
      .from(jobStreams)
      .where(eq(jobStreams.job_id, job_id))
      .orderBy(asc(jobStreams.seq)),
  );
}

function join(pieces: Piece[]): string {
  return pieces.map((piece) => piece.content).join("");
}
