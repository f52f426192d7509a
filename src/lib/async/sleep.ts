/** Resolves after a delay, or as soon as the signal is aborted. It leaves no listener behind. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done);
  });
}

/**
 * Resolves with the result of `work`, or with undefined once the signal is aborted, whichever comes first. `work`
 * continues. Unlike `Promise.race` with a long-lived promise, it does not leak.
 */
export function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) {
    work.catch(() => {});
    return Promise.resolve(undefined);
  }
  return new Promise((resolve, reject) => {
    const aborted = () => resolve(undefined);
    signal.addEventListener("abort", aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}

/** Resolves once `work` has settled, at the latest after `ms` milliseconds. `work` continues. */
export function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  const settled = new AbortController();
  const end = () => settled.abort();
  work.then(end, end);
  return sleep(ms, settled.signal);
}

/** Resolves with the result of `work`. @throws the error of `late` after `ms` milliseconds */
export async function withTimeout<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

const POLL_INTERVAL_MS = 5;

/** Polls until the condition holds, for at most `ms` milliseconds. */
export async function pollUntil(condition: () => boolean, ms: number): Promise<void> {
  const end = performance.now() + ms;
  while (!condition() && performance.now() < end) await sleep(POLL_INTERVAL_MS);
}

/**
 * A request to stop one piece of work. It makes an AbortSignal only where something needs one: of most jobs nothing does,
 * and a signal with a listener costs a large part of the server's time for a short job.
 */
export class StopRequest {
  #controller: AbortController | undefined;
  #isMade = false;
  #reason: unknown;
  /** Called once the request is made, unless it was made before. */
  onAbort: (() => void) | undefined;

  get aborted(): boolean {
    return this.#isMade;
  }

  get reason(): unknown {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#isMade) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    if (this.#isMade) return;
    this.#isMade = true;
    this.#reason = reason;
    this.onAbort?.();
    this.#controller?.abort(reason);
  }
}
