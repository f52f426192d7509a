/** Program of the thread that runs long reads. It replies to each message when its statement has ended. */
import type { Database as SqliteFile } from "bun:sqlite";
import type { AsideReply, AsideRequest } from "./aside.ts";
import { openForReading } from "./statements.ts";

declare const self: Worker;

const CACHE_KB = 16_384;

let connection: SqliteFile | undefined;

function read({ path, text, parameters }: AsideRequest): AsideReply {
  try {
    connection ??= openForReading(path, CACHE_KB);
    return { rows: connection.query(text).all(...(parameters as never[])) };
  } catch (cause) {
    return { error: String(cause) };
  }
}

self.onmessage = ({ data }: MessageEvent<AsideRequest | "close">) => {
  if (data !== "close") return self.postMessage(read(data));
  connection?.close();
  self.postMessage("closed");
};
