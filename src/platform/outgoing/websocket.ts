/**
 * WebSocket connections (RFC 6455) that the server opens to targets named by users. As with requests, it connects to
 * the very address that was checked.
 */
import { isIP } from "node:net";
import { getUrlHost } from "../../lib/network.ts";
import { describeNetworkError, OutgoingError, resolveAllowedAddresses } from "./connect.ts";
import type { Targets } from "./targets.ts";

export interface WebsocketTarget {
  url: string;
  targets: Targets;
  /** Limit until the connection is open. */
  timeout_ms: number;
  /** Maximum message size; a larger message closes the connection. */
  max_message_bytes: number;
  /** Ping interval; the connection is closed after three intervals without any message or pong. */
  ping_ms: number;
  /** Receives text, or base64 of binary messages that are not UTF-8. May be called before `openWebsocket` resolves. */
  onMessage(text: string): void;
}

export interface Websocket {
  send(text: string): void;
  /** Stops reading until `resume`, which slows the sender down. */
  pause(): void;
  resume(): void;
  close(): void;
  /** Resolves with the reason for the end; it names the host, never the path or query, which may hold secrets. */
  ended: Promise<string>;
}

/** Opens a connection. @throws OutgoingError if the target is refused or does not connect in time */
export async function openWebsocket(asked: WebsocketTarget): Promise<Websocket> {
  const url = new URL(asked.url);
  const host = getUrlHost(url);
  const signal = AbortSignal.timeout(asked.timeout_ms);
  let addresses: string[];
  try {
    addresses = await resolveAllowedAddresses(host, asked.targets, signal);
  } catch (cause) {
    if (cause instanceof OutgoingError) throw cause;
    throw new OutgoingError(
      signal.aborted ? createTimeoutMessage(host, asked) : `${host}: ${describeNetworkError(cause)}`,
    );
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

/** Bun's WebSocket client, which adds backpressure, pings and immediate termination. */
type BunWebSocket = WebSocket & { pause(): void; resume(): void; terminate(): void; ping(): void };

/** Connects to the address; certificate check and `Host` header use the host name. */
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
  // Without compression, message sizes equal the bytes on the wire.
  const options = { headers: { host: url.host }, perMessageDeflate: false, ...tls };
  const client = new WebSocket(to.href, options) as BunWebSocket;
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
    if (bytes <= asked.max_message_bytes) return asked.onMessage(messageText(data));
    leave(`${host} sent a message of ${bytes} bytes; at most ${asked.max_message_bytes} are taken`);
  });
  client.addEventListener("pong" as "message", () => {
    heard = performance.now();
  });
  const alive = setInterval(() => {
    // While paused, pongs are not read either.
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
      if (client.readyState === WebSocket.CONNECTING) refuse(createTimeoutMessage(host, asked));
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
    client.addEventListener("error", (event) => refuse(`${host}: ${describeFailure(event as ErrorEvent)}`));
    client.addEventListener("close", ({ code, reason }) => {
      const why = `${host} closed the connection (${code}${reason ? `: ${reason.slice(0, 100)}` : ""})`;
      end(why);
      reject(new OutgoingError(why));
    });
  });
}

function createTimeoutMessage(host: string, { timeout_ms }: WebsocketTarget): string {
  return `${host} did not answer within ${timeout_ms} ms`;
}

/** Describes a failure without its message, which contains the full URL. */
function describeFailure({ message, error }: ErrorEvent): string {
  const status = /status code: (\d{3})$/.exec(message)?.[1];
  return status === undefined
    ? describeNetworkError(error)
    : `it answered ${status}, and opened no WebSocket`;
}

function messageText(data: string | ArrayBuffer): string {
  if (typeof data === "string") return data;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return Buffer.from(data).toString("base64");
  }
}
