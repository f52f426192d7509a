/**
 * Channel between the server and a child: JSON lines on a socket that the child finds at NODE_CHANNEL_FD and its
 * runtime uses for `process.send`. The server's side is our own implementation with limited buffers, because user code
 * can write to the socket too.
 */
import type { Socket, SocketHandler } from "bun";
import { createTimeSlices, yieldToEventLoop } from "../../../lib/async/time-slices.ts";
import { isTooDeep } from "../../../lib/json/depth.ts";
import type { FromChild, ReferenceReply, Run, ToChild } from "../protocol.ts";

export interface ChildChannel {
  /** Sends a message to the child. @throws if the channel is closed */
  send(message: ToChild): void;
  /**
   * Sends a short message at the end of this turn of the event loop, together with others.
   * @throws if the channel is closed
   */
  sendLater(message: ToChild): void;
  close(): void;
  /** Resolves when no more messages can arrive. */
  readonly closed: Promise<void>;
}

interface ChannelOptions {
  /** File descriptor of this side; the channel closes it. */
  descriptor: number;
  /** Maximum size of a line. */
  max_bytes: number;
  onMessage: (message: FromChild) => void;
  /**
   * Called when the channel has been closed.
   * @param problem the child's protocol violation; undefined if it only closed its side
   */
  onClose: (problem: string | undefined) => void;
}

const NEWLINE = 10;
/** Pending messages are sent at once from this number on: the child begins while the server makes more. */
const MAX_PENDING = 8;
/** A longer line is read in several turns of the event loop. */
const LONG_LINE_BYTES = 1_000_000;

export function openChannel({ descriptor, max_bytes, onMessage, onClose }: ChannelOptions): ChildChannel {
  let socket: Socket<undefined> | undefined;
  let isClosed = false;
  let hasEnded = false;
  let problem: string | undefined;
  /** Chunks of an unfinished line. */
  let begun: Uint8Array[] = [];
  let begun_bytes = 0;
  /** Data that the socket has not accepted yet. */
  const unsent: (Uint8Array | Iterator<Uint8Array>)[] = [];
  /** Lines to be read later, in order: a long line, and the lines after it. */
  const unread: { chunks: Uint8Array[]; bytes: number }[] = [];
  let unread_bytes = 0;
  let announceClosed!: () => void;
  const closed = new Promise<void>((resolve) => {
    announceClosed = resolve;
  });

  function end(): void {
    if (isClosed) return;
    isClosed = true;
    begun = [];
    unread.length = 0;
    unsent.length = 0;
    announceClosed();
    onClose(problem);
  }

  function refuse(why: string): void {
    problem = why;
    socket?.end();
    end();
  }

  function take(bytes: Uint8Array): void {
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      const line = bytes.subarray(from, at);
      from = at + 1;
      if (unread_bytes + begun_bytes + line.length > max_bytes) {
        refuse(tooLongMessage(max_bytes));
        return;
      }
      const chunks = begun.length === 0 ? [line] : [...begun, line];
      const size = begun_bytes + line.length;
      begun = [];
      begun_bytes = 0;
      if (size > LONG_LINE_BYTES || unread.length > 0) {
        // Copied, because the socket reuses its buffer.
        chunks[chunks.length - 1] = Uint8Array.prototype.slice.call(line);
        unread_bytes += size;
        if (unread.push({ chunks, bytes: size }) === 1) void readUnread();
      } else receive(parseMessage(toText(chunks)));
      if (isClosed) return;
    }
    if (from === bytes.length) return;
    // Copied, because the socket reuses its buffer.
    begun.push(Uint8Array.prototype.slice.call(bytes, from));
    begun_bytes += bytes.length - from;
    if (unread_bytes + begun_bytes > max_bytes) refuse(tooLongMessage(max_bytes));
  }

  function receive(message: FromChild | undefined): void {
    if (message) onMessage(message);
    else refuse("sent the server something that is not a message");
  }

  /** Reads a long line in steps, one per turn of the event loop, and the short lines after it in few turns. */
  async function readUnread(): Promise<void> {
    let nextSlice = createTimeSlices();
    for (let line = unread[0]; line !== undefined; line = unread[0]) {
      const isLong = line.bytes > LONG_LINE_BYTES;
      const message = isLong ? await parseLong(line.chunks) : parseMessage(toText(line.chunks));
      if (isClosed) return;
      unread_bytes -= line.bytes;
      receive(message);
      unread.shift();
      if (isLong) nextSlice = createTimeSlices();
      await nextSlice();
    }
    if (hasEnded) end();
  }

  /** The child has closed its side; messages sent before are still read. */
  function endOfInput(): void {
    hasEnded = true;
    if (unread.length === 0) end();
  }

  function flush(): void {
    while (socket && unsent.length > 0) {
      const next = nextChunk(unsent);
      if (!next) continue;
      const written = Math.max(0, socket.write(next));
      if (written < next.length) {
        unsent[0] = next.subarray(written);
        return;
      }
      unsent.shift();
    }
  }

  /** Writes a short message, and buffers what the socket does not accept. */
  function sendText(text: string): void {
    const written = socket && unsent.length === 0 ? Math.max(0, socket.write(text)) : 0;
    if (written < Buffer.byteLength(text)) unsent.push(Buffer.from(text).subarray(written));
  }

  function assertOpen(): void {
    if (isClosed) throw new Error("the process has closed its connection to the server");
  }

  /** Short messages to send in this turn of the event loop. */
  let pending = "";
  let pending_count = 0;

  function sendPending(): void {
    const text = pending;
    pending = "";
    pending_count = 0;
    if (text === "" || isClosed) return;
    sendText(text);
    if (unsent.length === 1) flush();
  }

  const handlers: SocketHandler<undefined> = {
    open(opened) {
      socket = opened;
      if (isClosed) opened.end();
      else flush();
    },
    data: (_, bytes) => {
      if (!isClosed) take(bytes);
    },
    drain: flush,
    error: endOfInput,
    close: endOfInput,
  };
  // Bun's types lack the option to connect to a descriptor.
  const options = { fd: descriptor, socket: handlers } as unknown as Parameters<typeof Bun.connect>[0];
  Bun.connect(options).catch(() => end());

  return {
    closed,
    send(message) {
      assertOpen();
      sendPending();
      if (isLong(message)) unsent.push(encodeInChunks(message));
      else sendText(`${JSON.stringify(message)}\n`);
      if (unsent.length === 1) flush();
    },
    sendLater(message) {
      assertOpen();
      if (pending === "") setImmediate(sendPending);
      pending += `${JSON.stringify(message)}\n`;
      if (++pending_count >= MAX_PENDING) sendPending();
    },
    close() {
      socket?.end();
      end();
    },
  };
}

/** Returns the next bytes and puts them first in the queue; undefined if the first entry is exhausted. */
function nextChunk(unsent: (Uint8Array | Iterator<Uint8Array>)[]): Uint8Array | undefined {
  const first = unsent[0]!;
  if (first instanceof Uint8Array) return first;
  const { value, done } = first.next();
  if (done) unsent.shift();
  else unsent.unshift(value);
  return done ? undefined : value;
}

/** Characters of arguments written at once, with backpressure between them. */
const CHUNK_CHARACTERS = 500_000;

function isLong(message: ToChild): message is Run | ReferenceReply {
  return (message.t === "run" || message.t === "referred") && (message.args?.length ?? 0) > CHUNK_CHARACTERS;
}

/** Yields the line of a message with long arguments, which are its last member. */
function* encodeInChunks({ args = "", ...message }: Run | ReferenceReply): Generator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(message).slice(0, -1)},"args":"`);
  for (let at = 0; at < args.length; at += CHUNK_CHARACTERS) {
    // A split surrogate pair becomes two escapes, which is equivalent.
    yield Buffer.from(JSON.stringify(args.slice(at, at + CHUNK_CHARACTERS)).slice(1, -1));
  }
  yield Buffer.from('"}\n');
}

function tooLongMessage(max_bytes: number): string {
  return `sent the server more than ${Math.floor(max_bytes / 1_000_000)} MB at once`;
}

function toText(chunks: Uint8Array[]): string {
  const whole = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  return Buffer.from(whole.buffer, whole.byteOffset, whole.length).toString();
}

function parseMessage(text: string): FromChild | undefined {
  return isTooDeep(text) ? undefined : parseText(text);
}

async function parseLong(chunks: Uint8Array[]): Promise<FromChild | undefined> {
  await yieldToEventLoop();
  const text = toText(chunks);
  // Only the text is needed from here on.
  chunks.length = 0;
  await yieldToEventLoop();
  const isRead = !isTooDeep(text);
  await yieldToEventLoop();
  return isRead ? parseText(text) : undefined;
}

function parseText(text: string): FromChild | undefined {
  try {
    const message = JSON.parse(text);
    return typeof message?.t === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}
