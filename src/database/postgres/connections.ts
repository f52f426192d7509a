/**
 * PostgreSQL connections with outage detection. Networks can drop packets silently and load balancers can accept
 * connections without a backend; a query would then hang for TCP's timeout.
 *
 * When a query takes long, a separate probe connection checks PostgreSQL. If the probe fails, all pending queries are
 * rejected, new ones fail at once, and the connections are replaced. A merely slow query is left alone.
 */
import { SQL as PostgresClient } from "bun";
import { sleep, withTimeout } from "../../lib/async/sleep.ts";
import { Unavailable } from "../../lib/errors.ts";
import { CONNECT_TIMEOUT_S, openPool, type PoolOptions } from "./pool.ts";

/** A query running longer than this triggers a probe. */
const SLOW_QUERY_MS = 2_000;
/** Interval of the checks, and timeout of a probe. */
const CHECK_INTERVAL_MS = 500;
const PROBE_TIMEOUT_MS = 2_500;
/** Time after a successful probe during which slow queries trigger no new one. */
const PROBE_VALID_MS = 5_000;
/** Time that queries in progress get on close. */
const CLOSE_TIMEOUT_S = 5;

/** SQLSTATE too_many_connections: PostgreSQL is reachable, but full. */
const TOO_MANY_CONNECTIONS = "53300";

interface PendingQuery {
  since: number;
  reject: (cause: unknown) => void;
}

interface Listener {
  name: string;
  hear: (text: string) => void;
  ready: () => void;
  subscription?: { unlisten(): Promise<void> };
}

export interface Connections {
  /**
   * Runs work, such as a transaction, with a connection to itself.
   * @throws Unavailable as soon as PostgreSQL is known to be unreachable
   */
  withClient<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
  /**
   * Runs a single statement, at whose end the promise resolves.
   * @throws Unavailable as soon as PostgreSQL is known to be unreachable
   */
  query<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
  /**
   * Runs work on a connection that the caller already has.
   * @throws Unavailable as soon as PostgreSQL is known to be unreachable
   */
  watch<T>(work: () => Promise<T>): Promise<T>;
  /** Subscribes to a channel. @param gap called when the connection is restored after a loss */
  listen(name: string, listener: (text: string) => void, gap: () => void): Promise<{ stop(): Promise<void> }>;
  close(): Promise<void>;
}

export function openConnections(options: PoolOptions): Connections {
  let pool = openPool(options);
  const waiting = new Set<PendingQuery>();
  const listeners = new Set<Listener>();
  let away: Unavailable | undefined;
  let trusted_until = 0;
  let probing: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  function scheduleCheck(): void {
    if (closed) return;
    timer ??= setTimeout(check, CHECK_INTERVAL_MS);
  }

  function check(): void {
    timer = undefined;
    const [oldest] = waiting;
    const now = performance.now();
    const isSlow = oldest !== undefined && now - oldest.since > SLOW_QUERY_MS && now > trusted_until;
    if (away || isSlow) probing ??= probe().finally(() => (probing = undefined));
    if (away || oldest) scheduleCheck();
  }

  async function probe(): Promise<void> {
    const own = new PostgresClient({ ...options, max: 1, connectionTimeout: CONNECT_TIMEOUT_S });
    try {
      await withTimeout(
        PROBE_TIMEOUT_MS,
        own`SELECT 1`,
        () => new Error(`no answer within ${PROBE_TIMEOUT_MS / 1000} s`),
      );
      trusted_until = performance.now() + PROBE_VALID_MS;
      away = undefined;
    } catch (cause) {
      const isThere = (cause as { errno?: string }).errno === TOO_MANY_CONNECTIONS;
      if (isThere) trusted_until = performance.now() + PROBE_VALID_MS;
      else if (!away && !closed) lose(cause as Error);
    } finally {
      void own.close({ timeout: 0 }).catch(() => {});
    }
  }

  function lose(cause: Error): void {
    // A code that `isOutage` recognises, whatever the client reports.
    const outage = Object.assign(new Error(cause.message), { code: "ERR_POSTGRES_CONNECTION_TIMEOUT" });
    away = new Unavailable("the database cannot be reached now: try again", { cause: outage });
    const dead = pool;
    pool = openPool(options);
    for (const each of [...waiting]) each.reject(away);
    waiting.clear();
    void dead.close({ timeout: 0 }).catch(() => {});
    for (const listener of listeners) void subscribeAgain(listener);
  }

  async function subscribe(listener: Listener): Promise<void> {
    listener.subscription = await pool.listen(listener.name, listener.hear, listener.ready);
  }

  /** Retries until subscribed and never rejects. Once connected, the client resubscribes automatically. */
  async function subscribeAgain(listener: Listener): Promise<void> {
    const current = pool;
    const isWanted = () => !closed && current === pool && listeners.has(listener);
    while (isWanted()) {
      try {
        return await subscribe(listener);
      } catch {
        await sleep(CHECK_INTERVAL_MS);
      }
    }
  }

  /** Rejects as soon as PostgreSQL is known to be unreachable, even if the work never ends. */
  function watch<T>(work: () => Promise<T>): Promise<T> {
    if (away) return Promise.reject(away);
    return new Promise((resolve, reject) => {
      const each = { since: performance.now(), reject };
      waiting.add(each);
      scheduleCheck();
      Promise.try(work).then(
        (value) => {
          waiting.delete(each);
          resolve(value);
        },
        (cause) => {
          waiting.delete(each);
          reject(cause);
        },
      );
    });
  }

  return {
    watch,
    withClient: (work) => watch(() => pool.reserve(work)),
    query: (work) => watch(() => pool.query(work)),
    async listen(name, onMessage, gap) {
      let first = true;
      const ready = () => {
        if (!first) gap();
        first = false;
      };
      const listener: Listener = { name, hear: onMessage, ready };
      listeners.add(listener);
      await subscribe(listener);
      return {
        async stop() {
          listeners.delete(listener);
          // An unreachable connection receives nothing anyway.
          if (!away) await listener.subscription?.unlisten();
        },
      };
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await probing;
      await pool.close({ timeout: away ? 0 : CLOSE_TIMEOUT_S });
    },
  };
}
