/** Asks for confirmation before a link or the Back button discards unsaved changes. The state is an external store. */
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
 * Asks for confirmation before the page is left.
 * @param check whether unsaved changes would be lost @returns a function that ends this
 */
export function guardLeaving(check: () => boolean): () => void {
  isUnsaved = check;
  guardedPath = location.pathname;
  return () => {
    if (isUnsaved === check) isUnsaved = undefined;
  };
}

/** Allows leaving the page without confirmation, because its changes are saved or discarded. */
export function allowLeaving(): void {
  isUnsaved = undefined;
}

/** Navigates to an address, after confirmation if unsaved changes would be lost. */
export function confirmAndLeave(address: string, go: () => void): void {
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

export const stayOnPage = (): void => ask(undefined);

export function leavePage(): void {
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
 * Handles the Back button: the browser has left the page already, so this returns to it before the router notices, and
 * asks there. By then the user may have pressed Back again.
 */
function keepPage(event: PopStateEvent): void {
  const here = entries?.currentEntry;
  if (!shown || !here) return;
  if (isReturning && here.key === shown.key) {
    event.stopImmediatePropagation();
    isReturning = false;
    // What was unsaved may have been saved on the way back.
    if (isUnsaved?.()) ask(() => traverse(wantedKey));
    else traverse(wantedKey);
  } else if (isReturning || (location.pathname !== guardedPath && isUnsaved?.())) {
    event.stopImmediatePropagation();
    isReturning = true;
    wantedKey = here.key;
    traverse(shown.key);
  } else shown = here;
}

// Capturing: before the router's own listener.
addEventListener("popstate", keepPage, true);
