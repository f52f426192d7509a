/** What a job says while it runs: shown live through its tail, stored in pieces. */
import type { App } from "../context.ts";
import type { Tx } from "../database/database.ts";
import { storeLogPiece, storeStreamPiece } from "../features/jobs/logs.ts";
import type { Job } from "../queue/tables.ts";

/** How often the log of a long job goes to the database. */
const FLUSH_MS = 500;

/** Log and stream of the job: shown live through the tail, stored in pieces. */
export interface Output {
  log: (text: string) => void;
  stream: (text: string) => void;
  /** Writes what has not been stored yet. */
  store: (tx: Tx) => Promise<void>;
  /** Stores nothing more by itself; resolves when no store is under way. */
  stop: () => Promise<void>;
}

export function collectOutput(app: App, job: Job): Output {
  const tail = app.events.openTail(job.id);
  let stored = { log: 0, stream: 0, seq: 0 };
  let timer: ReturnType<typeof setInterval> | undefined;
  let flushing: Promise<void> = Promise.resolve();

  /** Offsets move on only when the transaction that holds the pieces is committed. */
  async function store(tx: Tx): Promise<void> {
    const next = { log: tail.log.length, stream: tail.stream.length, seq: stored.seq + 1 };
    const log = tail.log.slice(stored.log);
    const stream = tail.stream.slice(stored.stream);
    if (log === "" && stream === "") return;
    if (log !== "") await storeLogPiece(tx, { job_id: job.id, seq: next.seq, content: log });
    if (stream !== "") await storeStreamPiece(tx, { job_id: job.id, seq: next.seq, content: stream });
    tx.afterCommit(() => {
      stored = next;
    });
  }

  function schedule(): void {
    if (job.delete_after_use) return;
    timer ??= setInterval(() => {
      flushing = flushing
        .then(() => app.db.write(store))
        .catch((cause) => {
          app.log.warn({ job: job.id, error: String(cause) }, "a piece of log could not be stored yet");
        });
    }, FLUSH_MS);
  }

  return {
    log(text) {
      tail.appendLog(text);
      schedule();
    },
    stream(text) {
      // PostgreSQL stores no NUL in text.
      tail.appendStream(text.includes("\0") ? text.replaceAll("\0", "\ufffd") : text);
      schedule();
    },
    store,
    stop() {
      clearInterval(timer);
      return flushing;
    },
  };
}
