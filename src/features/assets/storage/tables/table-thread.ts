/** Program of the thread that reads a table. It requests byte ranges and sends one result. */
import type { FromThread, MessageToThread, TableRequest } from "./protocol.ts";
import { type PartReader, readRows } from "./rows.ts";

declare const self: Worker;

const awaited = new Map<number, (bytes: ArrayBuffer) => void>();
let reads = 0;

const post = (message: FromThread) => self.postMessage(message);

const readPart: PartReader = (start, end) => {
  const id = ++reads;
  const bytes = new Promise<ArrayBuffer>((resolve) => awaited.set(id, resolve));
  post({ kind: "read", id, start, end });
  return bytes;
};

async function answer(request: TableRequest): Promise<void> {
  try {
    post({ kind: "done", answer: await readRows(readPart, request) });
  } catch (cause) {
    post({
      kind: "failed",
      message: `the file cannot be read as ${request.format}: ${(cause as Error).message}`,
    });
  }
}

self.onmessage = ({ data }: MessageEvent<MessageToThread>) => {
  if (data.kind === "start") void answer(data.request);
  else {
    awaited.get(data.id)?.(data.bytes);
    awaited.delete(data.id);
  }
};
