/** Asks before a link or the Back button discards what is not saved, as an external store. */
import { useSyncExternalStore } from "react";

let isUnsaved: (() => boolean) | undefined;
/** Path of the page that asked to be guarded. */
let guardedPath = "";
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
  guardedPath = location.pathname;
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

/** Undefined in browsers without the Navigation API: they discard without a question. */
const entries: Navigation | undefined = globalThis.navigation;
/** The entry of the browser's history whose page is shown. */
let shown = entries?.currentEntry;
/** The browser has left that entry unasked and is on its way back to it. */
let isReturning = false;
/** Key of the entry that the user wanted to go to. */
let wantedKey = "";

entries?.addEventListener("currententrychange", ({ navigationType }) => {
  if (navigationType === "traverse") return;
  shown = entries.currentEntry;
  isReturning = false;
});

/** Goes to an entry. If the user goes elsewhere first, the next `popstate` says where. */
function traverse(key: string): void {
  if (entries) void Promise.allSettled(Object.values(entries.traverseTo(key)));
}

/**
 * The browser has gone already: goes back to the page before the router notices, and asks there. By then the user may
 * have pressed Back again.
 */
function keepPage(event: PopStateEvent): void {
  const here = entries?.currentEntry;
  if (!shown || !here) return;
  if (isReturning && here.key === shown.key) {
    event.stopImmediatePropagation();
    isReturning = false;
    ask(() => traverse(wantedKey));
  } else if (isReturning || (location.pathname !== guardedPath && isUnsaved?.())) {
    event.stopImmediatePropagation();
    isReturning = true;
    wantedKey = here.key;
    traverse(shown.key);
  } else shown = here;
}

// Capturing: before the router's own listener.
addEventListener("popstate", keepPage, true);
