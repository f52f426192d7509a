/** Starting and stopping, once for everything that runs beside requests. */
import type { Log } from "../logging/log.ts";

export interface Service {
  /** Resolves when it is ready. A second call starts nothing, and resolves when the first one does. */
  start(): Promise<void>;
  /**
   * Resolves when nothing of it runs any more. Safe twice, before `start`, and while `start` is under way; it may be started
   * again afterwards.
   */
  stop(): Promise<void>;
}

/** Frees what `open` acquired. */
type Close = () => Promise<void> | void;

/**
 * Makes a service of what opens it.
 * @param open resolves when it is ready; its signal is aborted when it is to stop, so that a long start ends early
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

/** Several services as one. */
export function createGroup(log: Log, services: [name: string, service: Service][]): Service {
  return createService(async () => {
    const parts = createParts(log);
    try {
      for (const [name, service] of services) await parts.start(name, service);
    } catch (cause) {
      await parts.stop().catch(() => {});
      throw cause;
    }
    return () => parts.stop();
  });
}

export interface Parts {
  /** Starts a part; it is stopped before those that were started earlier. */
  start(name: string, part: Service): Promise<void>;
  /** Takes a part that runs already. */
  add(name: string, stop: () => Promise<void> | void): void;
  /**
   * Stops all parts, the newest first, each once the one before has stopped. One that fails is logged and keeps none of the
   * others from being stopped. Safe twice.
   * @throws AggregateError of all failures, after the last part has stopped
   */
  stop(): Promise<void>;
}

export function createParts(log: Log): Parts {
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
      // Also one that fails to start may have begun something.
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
