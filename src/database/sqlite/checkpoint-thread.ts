/** Program of the thread that runs checkpoints. It replies to each message when a checkpoint has ended. */
import { Database as SqliteFile } from "bun:sqlite";
import type { CheckpointReply, CheckpointRequest } from "./checkpoints.ts";

declare const self: Worker;

let connection: SqliteFile | undefined;

function checkpoint({ path }: CheckpointRequest): CheckpointReply {
  try {
    // It writes only pages to the database file that are in the log already.
    connection ??= new SqliteFile(path, { readwrite: true });
    connection.run("PRAGMA synchronous = NORMAL");
    const [counts] = connection.query("PRAGMA wal_checkpoint(PASSIVE)").values() as [number[]];
    return { copied: counts[2] ?? 0 };
  } catch (cause) {
    return { error: String(cause) };
  }
}

self.onmessage = ({ data }: MessageEvent<CheckpointRequest | "close">) => {
  if (data === "close") connection?.close();
  self.postMessage(data === "close" ? {} : checkpoint(data));
};
