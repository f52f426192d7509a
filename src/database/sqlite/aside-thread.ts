/** Program of the thread that runs long reads: each message is answered once its statement has ended. */
import { Database as SqliteFile } from "bun:sqlite";
import type { AsideReply, AsideRequest } from "./aside.ts";

declare const self: Worker;

let connection: SqliteFile | undefined;

function connect(path: string): SqliteFile {
  const opened = new SqliteFile(path, { readwrite: true });
  for (const pragma of ["busy_timeout = 5000", "query_only = ON", "temp_store = MEMORY"])
    opened.run(`PRAGMA ${pragma}`);
  return opened;
}

function read({ id, path, text, parameters }: AsideRequest): AsideReply {
  try {
    connection ??= connect(path);
    return { id, rows: connection.query(text).all(...(parameters as never[])) };
  } catch (cause) {
    return { id, error: String(cause) };
  }
}

self.onmessage = ({ data }: MessageEvent<AsideRequest | "close">) => {
  if (data !== "close") return self.postMessage(read(data));
  connection?.close();
  self.postMessage("closed");
};
