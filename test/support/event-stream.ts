/** Server-sent events as a client reads them. */
import { once } from "node:events";
import { createConnection } from "node:net";

/** One event of a job's updates; fields as they are sent. */
export interface JobEvent {
  type: string;
  running?: boolean;
  completed?: boolean;
  new_logs?: string;
  log_offset?: number;
  new_result_stream?: string;
  stream_offset?: number;
  mem_peak?: number;
  progress?: number;
  only_result?: unknown;
  job?: Record<string, unknown>;
  error?: string;
}

const FRAME = /^data: (.*)$/;

const COMMENT = /^: (\w+)$/;

/**
 * The events as they arrive; with `comments`, comments as well, as `: text`.
 * @throws for a frame other than one `data:` line of JSON or a comment, and for an event of another type
 */
export async function* eventsOf(
  response: Response,
  { comments } = { comments: false },
): AsyncGenerator<JobEvent> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  // The last event of a long stream contains all of it, and arrives in many chunks.
  let parts: string[] = [];
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    const text = decoder.decode(bytes, { stream: true });
    parts.push(text);
    if (!text.includes("\n")) continue;
    const frames = parts.join("").split("\n\n");
    parts = [frames.pop()!];
    for (const frame of frames) {
      if (COMMENT.test(frame)) {
        if (comments) yield { type: frame };
        continue;
      }
      const json = FRAME.exec(frame)?.[1];
      if (json === undefined) throw new Error(`not a frame: ${frame.slice(0, 200)}`);
      const event: JobEvent = JSON.parse(json);
      if (event.type !== "update") throw new Error(`no update: ${frame.slice(0, 200)}`);
      yield event;
    }
  }
  const rest = parts.join("");
  if (rest !== "") throw new Error(`half a frame at the end: ${rest.slice(0, 200)}`);
}

export async function allEvents(response: Response): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  for await (const event of eventsOf(response)) events.push(event);
  return events;
}

/** Reads events up to the first that matches, and continues after it at the next call. */
export function reader(response: Response) {
  const events = eventsOf(response);
  return {
    async upTo(fits: (event: JobEvent) => boolean): Promise<JobEvent[]> {
      const seen: JobEvent[] = [];
      for (;;) {
        const next = await events.next();
        if (next.done) throw new Error(`the stream ended after ${JSON.stringify(seen)}`);
        seen.push(next.value);
        if (fits(next.value)) return seen;
      }
    },
    rest: async () => Array.fromAsync(events),
  };
}

/** Joins the stream's text of all events. */
export function streamed(events: JobEvent[]): string {
  return events.map((event) => event.new_result_stream ?? "").join("");
}

/** Joins the log's text of all events. */
export function joinLogs(events: JobEvent[]): string {
  return events.map((event) => event.new_logs ?? "").join("");
}

/** Sends a POST and reads nothing of the response, like a hanging client, until it is woken. */
export async function sleepingReader(url: string, token: string): Promise<{ wake: () => Promise<Response> }> {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = createConnection({ host: hostname, port: Number(port) });
  await once(socket, "connect");
  socket.pause();
  socket.write(
    `POST ${pathname}${search} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\ncontent-length: 2\r\n\r\n{}`,
  );
  return {
    async wake() {
      const parts: Buffer[] = [];
      for await (const part of socket) {
        parts.push(part);
        if (parts.at(-1)!.subarray(-5).equals(LAST_CHUNK)) break;
      }
      return new Response(withoutChunks(Buffer.concat(parts)));
    },
  };
}

const LAST_CHUNK = Buffer.from("0\r\n\r\n");

/** Decodes the chunked body of a complete HTTP response (RFC 9112 §7.1). */
function withoutChunks(answer: Buffer): Uint8Array<ArrayBuffer> {
  const parts: Buffer[] = [];
  for (let at = answer.indexOf("\r\n\r\n") + 4; ; ) {
    const end = answer.indexOf("\r\n", at);
    const size = Number.parseInt(answer.toString("latin1", at, end), 16);
    if (size === 0) return new Uint8Array(Buffer.concat(parts));
    parts.push(answer.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
