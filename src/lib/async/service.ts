/** Starting and stopping of everything that runs beside requests. */
import type { Log } from "../logging/log.ts";

export interface Service {
  /** Resolves when the service is ready. A second call starts nothing and resolves with the first. */
  start(): Promise<void>;
  /**
   * Resolves when the service has stopped completely. Safe to call twice, before `start`, and during `start`. The
   * service can be started again.
   */
  stop(): Promise<void>;
}

/** Releases the resources that `open` acquired. */
type Close = () => Promise<void> | void;

/**
 * Creates a service from its `open` function.
 * @param open resolves when the service is ready; its signal aborts on stop, so that a long start ends early
 */
export function createService(open: (stopping: AbortSignal) => Promise<Close> | Close): Service {
  let state: { stopping: AbortController; opened: Promise<Close>; closed?: Promise<void> } | undefined;

  async function close(current: NonNullable<typeof state>): Promise<void> {
    current.stopping.abort();
    try {
      const release = await current.opened.catch(() => undefined);
      await release?.();
    } finally {
      if (state === current) state = undefined;
    }
  }

  return {
    async start() {
      if (state?.closed) await state.closed.catch(() => {});
      if (!state) {
        const stopping = new AbortController();
        const current = { stopping, opened: (async () => open(stopping.signal))() };
        state = current;
        current.opened.catch(() => {
          if (state === current) state = undefined;
        });
      }
      await state.opened;
    },
    stop() {
      if (!state) return Promise.resolve();
      state.closed ??= close(state);
      return state.closed;
    },
  };
}

/** Combines several services into one. */
export function createServiceGroup(log: Log, services: [name: string, service: Service][]): Service {
  return createService(async () => {
    const parts = createServiceStack(log);
    try {
      for (const [name, service] of services) await parts.start(name, service);
    } catch (cause) {
      await parts.stop().catch(() => {});
      throw cause;
    }
    return () => parts.stop();
  });
}

export interface ServiceStack {
  /** Starts a service; it stops before those started earlier. */
  start(name: string, part: Service): Promise<void>;
  /** Adds a service that is already running. */
  add(name: string, stop: () => Promise<void> | void): void;
  /**
   * Stops all services, the newest first, one after another. A failure is logged and does not prevent the others from
   * stopping. Safe to call twice.
   * @throws AggregateError of all failures, after the last service has stopped
   */
  stop(): Promise<void>;
}

export function createServiceStack(log: Log): ServiceStack {
  const parts: { name: string; stop: () => Promise<void> | void }[] = [];
  let stopped: Promise<void> | undefined;

  async function stopAll(): Promise<void> {
    const failures: { name: string; cause: unknown }[] = [];
    for (let part = parts.pop(); part; part = parts.pop()) {
      const { name } = part;
      try {
        await part.stop();
      } catch (cause) {
        log.error({ part: name, error: String(cause) }, "a part of the server could not be stopped");
        failures.push({ name, cause });
      }
    }
    if (failures.length === 0) return;
    const said = failures.map(({ name, cause }) => `${name}: ${(cause as Error)?.message ?? cause}`);
    throw new AggregateError(
      failures.map(({ cause }) => cause),
      `not all parts of the server could be stopped: ${said.join("; ")}`,
    );
  }

  return {
    async start(name, part) {
      // Added before its start, because a failed start may leave something running.
      parts.push({ name, stop: () => part.stop() });
      await part.start();
    },
    add: (name, stop) => void parts.push({ name, stop }),
    stop() {
      stopped ??= stopAll();
      return stopped;
    },
  };
}
