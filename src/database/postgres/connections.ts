/**
 * The connections to PostgreSQL, and whether it can be reached. A network can swallow what is sent, and a balancer can
 * take connections with nothing behind it: then a query would wait for as long as TCP does. So whenever one takes long, a
 * connection of its own asks whether PostgreSQL is there at all. If it is not, all that wait are told, whoever comes next
 * is told at once, and the connections, which may be dead, are replaced. A query that is merely slow is left alone.
 */
import { SQL as PostgresClient } from "bun";
import { sleep, withinMs } from "../../lib/async/sleep.ts";
import { Unavailable } from "../../lib/errors.ts";

/** A query that takes longer makes one look whether PostgreSQL is there. */
const SUSPECT_MS = 2_000;
/** How often that is looked at, and how long a look may take. */
const LOOK_MS = 500;
const PROBE_MS = 2_500;
/** While PostgreSQL is there, how long a slow query goes on before it is asked again. */
const TRUSTED_MS = 5_000;
/** Of making one connection. */
const CONNECT_S = 3;
/** How long what is under way may take at the end. */
const CLOSE_S = 5;

/** SQLSTATE 53300, too_many_connections: it is there, and has no room for one more. */
const NO_ROOM = "53300";

type Options = ConstructorParameters<typeof PostgresClient>[0] & { url: string };

interface Waiting {
  since: number;
  reject: (cause: unknown) => void;
}

interface Listening {
  name: string;
  hear: (text: string) => void;
  ready: () => void;
  subscription?: { unlisten(): Promise<void> };
}

export interface Connections {
  /** Does what takes an answer of PostgreSQL. @throws Unavailable as soon as it is known not to be there */
  reach<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
  /** Hears what is sent to a channel. @param gap called when the connection is there again after it was lost */
  listen(name: string, hear: (text: string) => void, gap: () => void): Promise<{ stop(): Promise<void> }>;
  close(): Promise<void>;
}

export function openConnections(options: Options): Connections {
  const connect = () => new PostgresClient({ ...options, connectionTimeout: CONNECT_S });
  let client = connect();
  const waiting = new Set<Waiting>();
  const listeners = new Set<Listening>();
  let away: Unavailable | undefined;
  let trusted_until = 0;
  let probing: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  function watch(): void {
    if (closed) return;
    timer ??= setTimeout(look, LOOK_MS);
  }

  function look(): void {
    timer = undefined;
    const [oldest] = waiting;
    const now = performance.now();
    const isSlow = oldest !== undefined && now - oldest.since > SUSPECT_MS && now > trusted_until;
    if (away || isSlow) probing ??= probe().finally(() => (probing = undefined));
    if (away || oldest) watch();
  }

  async function probe(): Promise<void> {
    const own = new PostgresClient({ ...options, max: 1, connectionTimeout: CONNECT_S });
    try {
      await withinMs(PROBE_MS, own`SELECT 1`, () => new Error(`no answer within ${PROBE_MS / 1000} s`));
      trusted_until = performance.now() + TRUSTED_MS;
      away = undefined;
    } catch (cause) {
      const isThere = (cause as { errno?: string }).errno === NO_ROOM;
      if (isThere) trusted_until = performance.now() + TRUSTED_MS;
      else if (!away && !closed) lose(cause as Error);
    } finally {
      void own.close({ timeout: 0 }).catch(() => {});
    }
  }

  function lose(cause: Error): void {
    // Known by its code as an outage (failure.ts), whatever the client says of it.
    const outage = Object.assign(new Error(cause.message), { code: "ERR_POSTGRES_CONNECTION_TIMEOUT" });
    away = new Unavailable("the database cannot be reached now: try again", { cause: outage });
    const dead = client;
    client = connect();
    for (const each of [...waiting]) each.reject(away);
    waiting.clear();
    void dead.close({ timeout: 0 }).catch(() => {});
    for (const listener of listeners) void subscribeAgain(listener);
  }

  async function subscribe(listener: Listening): Promise<void> {
    listener.subscription = await client.listen(listener.name, listener.hear, listener.ready);
  }

  /** Never fails. Once connected, the client does this by itself. */
  async function subscribeAgain(listener: Listening): Promise<void> {
    const pool = client;
    const isWanted = () => !closed && pool === client && listeners.has(listener);
    while (isWanted()) {
      try {
        return await subscribe(listener);
      } catch {
        await sleep(LOOK_MS);
      }
    }
  }

  return {
    reach(work) {
      if (away) return Promise.reject(away);
      return new Promise((resolve, reject) => {
        const each = { since: performance.now(), reject };
        waiting.add(each);
        watch();
        (async () => work(client))().then(
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
    },
    async listen(name, hear, gap) {
      let first = true;
      const ready = () => {
        if (!first) gap();
        first = false;
      };
      const listener: Listening = { name, hear, ready };
      listeners.add(listener);
      await subscribe(listener);
      return {
        async stop() {
          listeners.delete(listener);
          // One that cannot be reached hears nothing more anyway.
          if (!away) await listener.subscription?.unlisten();
        },
      };
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await probing;
      await client.close({ timeout: away ? 0 : CLOSE_S });
    },
  };
}
