/** Polling intervals of lists, and the global switch that pauses them. */
import { useSyncExternalStore } from "react";

let paused = false;
const listeners = new Set<() => void>();

export function setPaused(next: boolean): void {
  paused = next;
  for (const tell of listeners) tell();
}

export const usePaused = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => paused,
  );

/**
 * Returns query options for polling. Pausing also stops refetching on focus and reconnect.
 * @param still pauses only this query, for example while rows are selected
 */
export function usePolling(ms: number, still = false) {
  const stopped = usePaused() || still;
  return {
    refetchInterval: stopped ? (false as const) : ms,
    refetchOnWindowFocus: !stopped,
    refetchOnReconnect: !stopped,
    refetchIntervalInBackground: false,
  };
}
