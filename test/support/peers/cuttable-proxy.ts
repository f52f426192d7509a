/**
 * A proxy to a TCP server on loopback that can be cut like a network: nothing is forwarded, and neither side is
 * notified.
 */
import type { Socket } from "bun";

interface Way {
  other: Socket<Way> | undefined;
  /** Data not forwarded yet. */
  kept: Uint8Array[];
  /** The end was received: once the kept data is forwarded, the other side is closed. */
  isClosed: boolean;
}

export interface CuttableProxy extends Disposable {
  port: number;
  cut(): void;
  /**
   * Ends all connections; new ones are accepted and closed at once, as by a load balancer without a backend.
   */
  refuse(): void;
  /** Resumes forwarding, with the data that was held back. */
  mend(): void;
}

export async function startProxy(to: { hostname: string; port: number }): Promise<CuttableProxy> {
  const ways = new Set<Socket<Way>>();
  let isCut = false;
  let isRefusing = false;

  function pass(socket: Socket<Way>): void {
    const { data } = socket;
    if (data.other?.data.isClosed) data.kept = [];
    while (!isCut && data.other && data.kept.length > 0) {
      const piece = data.kept.shift()!;
      const sent = data.other.write(piece);
      if (sent < piece.length) {
        data.kept.unshift(piece.subarray(Math.max(0, sent)));
        return;
      }
    }
    if (isCut || !data.isClosed || !data.other) return;
    ways.delete(socket);
    data.other.end();
  }

  const handlers = {
    data(socket: Socket<Way>, bytes: Uint8Array) {
      socket.data.kept.push(new Uint8Array(bytes));
      pass(socket);
    },
    drain(socket: Socket<Way>) {
      if (socket.data.other) pass(socket.data.other);
    },
    close(socket: Socket<Way>) {
      socket.data.isClosed = true;
      pass(socket);
    },
    error() {},
  };
  const listener = Bun.listen<Way>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      ...handlers,
      async open(socket) {
        if (isRefusing) {
          socket.data = { other: undefined, kept: [], isClosed: true };
          socket.end();
          return;
        }
        socket.data = { other: undefined, kept: [], isClosed: false };
        ways.add(socket);
        const data = { other: socket, kept: [], isClosed: false };
        const other = await Bun.connect<Way>({ ...to, data, socket: handlers }).catch(() => undefined);
        if (!other) {
          socket.terminate();
          return;
        }
        ways.add(other);
        socket.data.other = other;
        pass(socket);
      },
    },
  });
  return {
    port: listener.port,
    cut() {
      isCut = true;
    },
    refuse() {
      isRefusing = true;
      for (const socket of ways) socket.terminate();
      ways.clear();
    },
    mend() {
      isCut = false;
      isRefusing = false;
      for (const socket of [...ways]) pass(socket);
    },
    [Symbol.dispose]() {
      listener.stop(true);
      for (const socket of ways) socket.terminate();
    },
  };
}
