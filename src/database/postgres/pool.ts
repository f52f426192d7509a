/**
 * A pool of PostgreSQL connections that keeps as few as possible busy: work goes to the first free one, and another is
 * opened while all are in use. PostgreSQL runs a process per connection, which plans each statement anew and has its own
 * caches: jobs complete a tenth faster on the two or three connections they need than on ten that take turns.
 *
 * Work is never bound to a connection that is not open yet: if PostgreSQL refuses further ones, the open ones serve it.
 */
import { SQL as PostgresClient } from "bun";

/** Timeout of opening one connection. */
export const CONNECT_TIMEOUT_S = 3;

/** Time after a refused connection in which no further one is opened beside those that are open. */
const REFUSED_MS = 1_000;

/** Statements on one connection at the same time, if no more connections can be opened. They are answered in turn. */
const MAX_PIPELINED = 4;

export type PoolOptions = ConstructorParameters<typeof PostgresClient>[0] & { url: string; max: number };

type Work<T> = (client: PostgresClient) => Promise<T>;

export interface Pool {
  /**
   * Runs work, such as a transaction, with a connection to itself. If all are in use, it waits: first come, first
   * served.
   * @throws if no connection can be opened, or the pool is closed before it is its turn
   */
  reserve<T>(work: Work<T>): Promise<T>;
  /**
   * Runs a single statement, at whose end the promise resolves. If no connection is free and none can be opened, it is
   * sent on one that runs only such statements. Throws as `reserve`.
   */
  query<T>(work: Work<T>): Promise<T>;
  /** Subscribes to a channel, on a connection beside those of the pool. */
  listen: PostgresClient["listen"];
  /** Rejects work that waits. @param timeout seconds that work in progress gets */
  close(options: { timeout: number }): Promise<void>;
}

interface PooledConnection {
  client: PostgresClient;
  is_open: boolean;
  is_reserved: boolean;
  /** Single statements in progress. */
  queries: number;
}

interface QueuedWork {
  is_query: boolean;
  resolve: (connection: PooledConnection) => void;
  reject: (cause: unknown) => void;
}

export function openPool({ max, ...options }: PoolOptions): Pool {
  const connections = Array.from({ length: max }, (): PooledConnection => {
    const onclose = () => {
      connection.is_open = false;
    };
    const client = new PostgresClient({
      ...options,
      max: 1,
      connectionTimeout: CONNECT_TIMEOUT_S,
      onclose,
    });
    const connection = { client, is_open: false, is_reserved: false, queries: 0 };
    return connection;
  });
  let queue: QueuedWork[] = [];
  let is_opening = false;
  let refused_until = 0;
  let closed: Error | undefined;

  const isOpen = ({ is_open }: PooledConnection) => is_open;

  /** Returns a connection that is not open, unless PostgreSQL has just refused one. */
  function findUnopened(): PooledConnection | undefined {
    const unopened = connections.find((connection) => !isOpen(connection));
    if (!unopened) return undefined;
    return performance.now() >= refused_until || !connections.some(isOpen) ? unopened : undefined;
  }

  /** Returns the connection on which work can start now. */
  function findConnection(is_query: boolean): PooledConnection | undefined {
    let least: PooledConnection | undefined;
    for (const connection of connections) {
      const { is_open, is_reserved, queries } = connection;
      if (!is_open || is_reserved) continue;
      if (queries === 0) return connection;
      if (queries < (least?.queries ?? MAX_PIPELINED)) least = connection;
    }
    return is_query && least && !findUnopened() ? least : undefined;
  }

  function occupy(connection: PooledConnection, is_query: boolean): PooledConnection {
    if (is_query) connection.queries += 1;
    else connection.is_reserved = true;
    return connection;
  }

  function acquire(is_query: boolean): PooledConnection | Promise<PooledConnection> {
    if (closed) throw closed;
    const connection = queue.length === 0 ? findConnection(is_query) : undefined;
    if (connection) return occupy(connection, is_query);
    return new Promise((resolve, reject) => {
      queue.push({ is_query, resolve, reject });
      void openAnother();
    });
  }

  function release(connection: PooledConnection, is_query: boolean): void {
    if (is_query) connection.queries -= 1;
    else connection.is_reserved = false;
    startQueued();
  }

  /** Starts queued work on the connections that are free, and opens another if some remains. */
  function startQueued(): void {
    for (let next = queue[0]; next; next = queue[0]) {
      const connection = findConnection(next.is_query);
      if (!connection) return void openAnother();
      queue.shift();
      next.resolve(occupy(connection, next.is_query));
    }
  }

  function rejectQueued(cause: unknown): void {
    const rejected = queue;
    queue = [];
    for (const { reject } of rejected) reject(cause);
  }

  /** Opens one more connection, unless one is being opened. Never rejects: queued work does, if none is open. */
  async function openAnother(): Promise<void> {
    const connection = is_opening ? undefined : findUnopened();
    if (!connection) return;
    is_opening = true;
    try {
      await connection.client.connect();
      connection.is_open = true;
    } catch (cause) {
      refused_until = performance.now() + REFUSED_MS;
      if (!connections.some(isOpen)) rejectQueued(cause);
    }
    is_opening = false;
    startQueued();
  }

  async function run<T>(work: Work<T>, is_query: boolean): Promise<T> {
    const acquired = acquire(is_query);
    const connection = acquired instanceof Promise ? await acquired : acquired;
    try {
      return await work(connection.client);
    } finally {
      release(connection, is_query);
    }
  }

  return {
    reserve: (work) => run(work, false),
    query: (work) => run(work, true),
    listen: (name, listener, ready) => connections[0]!.client.listen(name, listener, ready),
    async close({ timeout }) {
      closed = Object.assign(new Error("the connection was closed"), {
        code: "ERR_POSTGRES_CONNECTION_CLOSED",
      });
      rejectQueued(closed);
      await Promise.all(connections.map(({ client }) => client.close({ timeout })));
    },
  };
}
