/** Asks before a link to another page discards what is not saved, as an external store. */
import { useSyncExternalStore } from "react";

let isUnsaved: (() => boolean) | undefined;
/** Goes where the user wanted to; set while they are asked. */
let wanted: (() => void) | undefined;
const listeners = new Set<() => void>();

function ask(go: (() => void) | undefined): void {
  wanted = go;
  for (const tell of listeners) tell();
}

/**
 * Asks from now on whether a page is left.
 * @param check whether something would be lost
 * @returns ends it
 */
export function guardLeaving(check: () => boolean): () => void {
  isUnsaved = check;
  return () => {
    if (isUnsaved === check) isUnsaved = undefined;
  };
}

/** Lets the page be left without a question: what it held is saved, or given up. */
export function allowLeaving(): void {
  isUnsaved = undefined;
}

/** Goes to an address, after a question if that leaves a page with something unsaved. */
export function leaveFor(address: string, go: () => void): void {
  const stays = new URL(address, location.href).pathname === location.pathname;
  if (!stays && isUnsaved?.()) ask(go);
  else go();
}

export const useLeaving = (): (() => void) | undefined =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => wanted,
  );

export const stay = (): void => ask(undefined);

export function leave(): void {
  const go = wanted;
  allowLeaving();
  ask(undefined);
  go?.();
}
