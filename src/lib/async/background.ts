/** Work that nobody waits for, such as telling somebody elsewhere: it may last, and must not end in the middle. */
import { perApp } from "./per-app.ts";

const running = perApp<object, Set<Promise<void>>>(() => new Set());

/** Begins the work and returns at once; `failed` hears of its failure. */
export function inBackground(app: object, work: () => Promise<void>, failed: (cause: unknown) => void): void {
  const going = work().catch(failed);
  running(app).add(going);
  void going.finally(() => running(app).delete(going));
}

/** Resolves once all that has begun is over. What begins meanwhile is waited for as well. */
export async function backgroundSettled(app: object): Promise<void> {
  while (running(app).size > 0) await Promise.allSettled(running(app));
}
