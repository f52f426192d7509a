/**
 * The line between the server and a child: one JSON object a line, on a socket that the child finds at NODE_CHANNEL_FD
 * and its runtime speaks as `process.send`. The server's side is our own, since user code can write to it as well: what
 * the server keeps of a line that does not end is limited.
 */
import type { Socket, SocketHandler } from "bun";
import { isTooDeep } from "../../../lib/json/depth.ts";
import type { FromChild, Referred, Run, ToChild } from "../protocol.ts";

export interface Channel {
  /** @throws when the channel is closed */
  send(message: ToChild): void;
  close(): void;
  /** Resolves when nothing more can come. */
  readonly closed: Promise<void>;
}

interface ChannelOptions {
  /** This side's descriptor, which the channel closes. */
  descriptor: number;
  /** Most bytes of a line. */
  max_bytes: number;
  onMessage: (message: FromChild) => void;
  /** @param problem what the child did wrong; undefined when it merely closed its side */
  onClose: (problem: string | undefined) => void;
}

/** What a child's runtime is to be told so that it finds its side, which is its descriptor 3. */
export const CHANNEL_ENVIRONMENT = { NODE_CHANNEL_FD: "3", NODE_CHANNEL_SERIALIZATION_MODE: "json" };

const NEWLINE = 10;

export function openChannel({ descriptor, max_bytes, onMessage, onClose }: ChannelOptions): Channel {
  let socket: Socket<undefined> | undefined;
  let isClosed = false;
  let problem: string | undefined;
  /** What has come of a line that has not ended yet. */
  let begun: Uint8Array[] = [];
  let begun_bytes = 0;
  /** What the child has not taken yet. */
  const unsent: (Uint8Array | Iterator<Uint8Array>)[] = [];
  let announceClosed!: () => void;
  const closed = new Promise<void>((resolve) => {
    announceClosed = resolve;
  });

  function end(): void {
    if (isClosed) return;
    isClosed = true;
    begun = [];
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
      if (begun_bytes + line.length > max_bytes) {
        refuse(tooLong(max_bytes));
        return;
      }
      const whole = begun.length === 0 ? line : Buffer.concat([...begun, line]);
      begun = [];
      begun_bytes = 0;
      const message = parsed(whole);
      if (!message) {
        refuse("sent the server what is no message");
        return;
      }
      onMessage(message);
      if (isClosed) return;
    }
    if (from === bytes.length) return;
    // The buffer is the socket's, and used again.
    begun.push(Uint8Array.prototype.slice.call(bytes, from));
    begun_bytes += bytes.length - from;
    if (begun_bytes > max_bytes) refuse(tooLong(max_bytes));
  }

  function flush(): void {
    while (socket && unsent.length > 0) {
      const next = nextPiece(unsent);
      if (!next) continue;
      const written = Math.max(0, socket.write(next));
      if (written < next.length) {
        unsent[0] = next.subarray(written);
        return;
      }
      unsent.shift();
    }
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
    error: () => end(),
    close: () => end(),
  };
  // Bun's types do not know that a descriptor can stand for an address.
  const options = { fd: descriptor, socket: handlers } as unknown as Parameters<typeof Bun.connect>[0];
  Bun.connect(options).catch(() => end());

  return {
    closed,
    send(message) {
      if (isClosed) throw new Error("the process has closed its connection to the server");
      if (isLong(message)) unsent.push(piecesOf(message));
      else unsent.push(Buffer.from(`${JSON.stringify(message)}\n`));
      if (unsent.length === 1) flush();
    },
    close() {
      socket?.end();
      end();
    },
  };
}

/** The next bytes, which take the first place; undefined when what stood there is over. */
function nextPiece(unsent: (Uint8Array | Iterator<Uint8Array>)[]): Uint8Array | undefined {
  const first = unsent[0]!;
  if (first instanceof Uint8Array) return first;
  const { value, done } = first.next();
  if (done) unsent.shift();
  else unsent.unshift(value);
  return done ? undefined : value;
}

/** Characters of arguments that are written at once: the child takes them before the next are made. */
const PIECE = 500_000;

function isLong(message: ToChild): message is Run | Referred {
  return (message.t === "run" || message.t === "referred") && (message.args?.length ?? 0) > PIECE;
}

/** The line of a message with long arguments, which stand last in it. */
function* piecesOf({ args = "", ...message }: Run | Referred): Generator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(message).slice(0, -1)},"args":"`);
  for (let at = 0; at < args.length; at += PIECE) {
    // A pair of surrogates that is cut comes as two escapes, which are the same text.
    yield Buffer.from(JSON.stringify(args.slice(at, at + PIECE)).slice(1, -1));
  }
  yield Buffer.from('"}\n');
}

function tooLong(max_bytes: number): string {
  return `sent the server more than ${Math.floor(max_bytes / 1_000_000)} MB at once`;
}

function parsed(line: Uint8Array): FromChild | undefined {
  try {
    const text = Buffer.from(line.buffer, line.byteOffset, line.length).toString();
    if (isTooDeep(text)) return undefined;
    const message = JSON.parse(text);
    return typeof message?.t === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}
