/** Connection state as an external store: server reachable, session valid. */
import { useSyncExternalStore } from "react";
import { toServerPath } from "./base.ts";

export interface Connection {
  reached: boolean;
  /** Whether the session has ended: a request was answered with 401. */
  ended: boolean;
}

let state: Connection = { reached: true, ended: false };
const listeners = new Set<() => void>();

function become(next: Partial<Connection>): void {
  const changed = { ...state, ...next };
  if (changed.reached === state.reached && changed.ended === state.ended) return;
  state = changed;
  for (const tell of listeners) tell();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useConnection = (): Connection => useSyncExternalStore(subscribe, () => state);

export const markReachable = (): void => become({ reached: true });
export const markSessionEnded = (ended: boolean): void => become({ ended });

/** Marks the session as ended if the server no longer recognises it. */
export async function checkSession(): Promise<void> {
  const answer = await fetch(toServerPath("api/users/whoami")).catch(() => undefined);
  if (answer?.status === 401) markSessionEnded(true);
}

const RETRY_INTERVAL_MS = 2_000;
const back = new Set<() => void>();

/** Subscribes to the end of an outage. */
export function onReconnect(then: () => void): () => void {
  back.add(then);
  return () => back.delete(then);
}

/** Marks the server as unreachable and polls it until it answers. */
export function markUnreachable(): void {
  if (!state.reached) return;
  become({ reached: false });
  void knock();
}

async function knock(): Promise<void> {
  while (!state.reached) {
    await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
    const answer = await fetch(toServerPath("api/health/live")).catch(() => undefined);
    if (!answer || answer.status >= 500) continue;
    become({ reached: true });
    for (const then of back) then();
  }
}
