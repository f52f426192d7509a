/** Program of the thread that runs long reads. It replies to each message when its statement has ended. */
import type { Database as SqliteFile } from "bun:sqlite";
import type { AsideReply, AsideRequest, LongText } from "./aside.ts";
import { openForReading } from "./statements.ts";

declare const self: Worker;

const CACHE_KB = 16_384;
/** Longer texts are sent by themselves. */
const MAX_COPIED_CHARACTERS = 10_000;

let connection: SqliteFile | undefined;

function read({ path, text, parameters }: AsideRequest): AsideReply {
  try {
    connection ??= openForReading(path, CACHE_KB);
    const rows = connection.query(text).all(...(parameters as never[])) as Record<string, unknown>[];
    return { rows, texts: rows.flatMap(takeLongTexts) };
  } catch (cause) {
    return { error: String(cause) };
  }
}

/** Takes long texts out of a row and sends them. @returns where they were */
function takeLongTexts(row: Record<string, unknown>, index: number): LongText[] {
  const found: LongText[] = [];
  for (const [name, value] of Object.entries(row)) {
    if (typeof value !== "string" || value.length <= MAX_COPIED_CHARACTERS) continue;
    self.postMessage(value);
    row[name] = undefined;
    found.push([index, name]);
  }
  return found;
}

self.onmessage = ({ data }: MessageEvent<AsideRequest | "close">) => {
  if (data !== "close") return self.postMessage(read(data));
  connection?.close();
  self.postMessage("closed");
};
