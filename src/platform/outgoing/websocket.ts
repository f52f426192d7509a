/**
 * WebSocket connections (RFC 6455) that the server itself opens to targets people name. The address that was checked is
 * the one that is connected to, as with requests.
 */
import { isIP } from "node:net";
import { hostOf } from "../../lib/network.ts";
import { allowedAddresses, OutgoingError, reasonOf } from "./connect.ts";
import type { Targets } from "./targets.ts";

export interface WebsocketTarget {
  url: string;
  targets: Targets;
  /** Until the connection is open. */
  timeout_ms: number;
  /** Of one message: after a longer one the connection is closed. */
  max_message_bytes: number;
  /** How often a sign of life is asked for; a connection that gives none in three times that is ended. */
  ping_ms: number;
  /** Text, or base64 of what is no text. May be called before the connection is handed out. */
  onMessage(text: string): void;
}

export interface Websocket {
  send(text: string): void;
  /** Takes nothing more from the network until `resume`: the sender is slowed down. */
  pause(): void;
  resume(): void;
  close(): void;
  /** Why it ended, in words; the host is named, never the path or query, which may hold secrets. */
  ended: Promise<string>;
}

/** @throws OutgoingError when the target is refused, or there is no connection in time */
export async function openWebsocket(asked: WebsocketTarget): Promise<Websocket> {
  const url = new URL(asked.url);
  const host = hostOf(url);
  const signal = AbortSignal.timeout(asked.timeout_ms);
  let addresses: string[];
  try {
    addresses = await allowedAddresses(host, asked.targets, signal);
  } catch (cause) {
    if (cause instanceof OutgoingError) throw cause;
    throw new OutgoingError(signal.aborted ? late(host, asked) : `${host}: ${reasonOf(cause)}`);
  }
  for (const [index, address] of addresses.entries()) {
    try {
      return await connect(asked, url, host, address, signal);
    } catch (cause) {
      if (index === addresses.length - 1 || signal.aborted) throw cause;
    }
  }
  throw new OutgoingError(`${host} has no address`);
}

/** Bun's own client says more than the standard one: it can be told to wait, and ended at once. */
type Client = WebSocket & { pause(): void; resume(): void; terminate(): void; ping(): void };

/** The connection goes to the address; the certificate and the `Host` header are those of the name. */
function connect(
  asked: WebsocketTarget,
  url: URL,
  host: string,
  address: string,
  signal: AbortSignal,
): Promise<Websocket> {
  const to = new URL(url);
  to.hostname = address.includes(":") ? `[${address}]` : address;
  const tls = url.protocol === "wss:" && isIP(host) === 0 ? { tls: { serverName: host } } : {};
  // Uncompressed, a message is as long as what arrives of it.
  const options = { headers: { host: url.host }, perMessageDeflate: false, ...tls };
  const client = new WebSocket(to.href, options) as Client;
  client.binaryType = "arraybuffer";
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const leave = (why: string) => {
    end(why);
    client.terminate();
  };
  let heard = performance.now();
  let paused = false;
  client.addEventListener("message", ({ data }: MessageEvent<string | ArrayBuffer>) => {
    heard = performance.now();
    const bytes = typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
    if (bytes <= asked.max_message_bytes) return asked.onMessage(textOf(data));
    leave(`${host} sent a message of ${bytes} bytes; at most ${asked.max_message_bytes} are taken`);
  });
  client.addEventListener("pong" as "message", () => {
    heard = performance.now();
  });
  const alive = setInterval(() => {
    // Nothing is heard while nothing is listened to.
    if (paused) return;
    if (performance.now() - heard > asked.ping_ms * 3) leave(`${host} gave no sign of life any more`);
    else if (client.readyState === WebSocket.OPEN) client.ping();
  }, asked.ping_ms);
  void ended.then(() => clearInterval(alive));
  return new Promise((resolve, reject) => {
    const refuse = (why: string) => {
      leave(why);
      reject(new OutgoingError(why));
    };
    signal.addEventListener("abort", () => {
      if (client.readyState === WebSocket.CONNECTING) refuse(late(host, asked));
    });
    client.addEventListener("open", () => {
      heard = performance.now();
      resolve({
        send: (text) => void client.send(text),
        pause() {
          paused = true;
          client.pause();
        },
        resume() {
          paused = false;
          heard = performance.now();
          client.resume();
        },
        close: () => leave("closed"),
        ended,
      });
    });
    client.addEventListener("error", (event) => refuse(`${host}: ${failureOf(event as ErrorEvent)}`));
    client.addEventListener("close", ({ code, reason }) => {
      const why = `${host} closed the connection (${code}${reason ? `: ${reason.slice(0, 100)}` : ""})`;
      end(why);
      reject(new OutgoingError(why));
    });
  });
}

function late(host: string, { timeout_ms }: WebsocketTarget): string {
  return `${host} did not answer within ${timeout_ms} ms`;
}

/** Never the message itself: it names the whole address. */
function failureOf({ message, error }: ErrorEvent): string {
  const status = /status code: (\d{3})$/.exec(message)?.[1];
  return status === undefined ? reasonOf(error) : `it answered ${status}, and opened no WebSocket`;
}

function textOf(data: string | ArrayBuffer): string {
  if (typeof data === "string") return data;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return Buffer.from(data).toString("base64");
  }
}
