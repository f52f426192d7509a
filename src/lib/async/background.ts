/** Background work that nobody awaits, such as notifications. A shutdown lets it finish. */
import { memoizePerApp } from "./per-app.ts";

const runningTasks = memoizePerApp<object, Set<Promise<void>>>(() => new Set());

/** Starts the work without waiting for it; `failed` receives its error. */
export function runInBackground(
  app: object,
  work: () => Promise<void>,
  failed: (cause: unknown) => void,
): void {
  const going = work().catch(failed);
  runningTasks(app).add(going);
  void going.finally(() => runningTasks(app).delete(going));
}

/** Resolves once all background work is done, including work started meanwhile. */
export async function awaitBackground(app: object): Promise<void> {
  while (runningTasks(app).size > 0) await Promise.allSettled(runningTasks(app));
}
