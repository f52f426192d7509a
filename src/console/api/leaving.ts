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
/** Index of the entry of the browser's history that is shown. */
let shownIndex = entries?.currentEntry?.index;
/** Called back at the entry of the page, after the browser has left it unasked. */
let returned: (() => void) | undefined;

entries?.addEventListener("currententrychange", ({ navigationType }) => {
  if (navigationType !== "traverse") shownIndex = entries.currentEntry?.index;
});

/** The browser has gone already: goes back to the page before the router notices, and asks there. */
function keepPage(event: PopStateEvent): void {
  const [from, to] = [shownIndex, entries?.currentEntry?.index];
  shownIndex = to;
  if (returned) {
    event.stopImmediatePropagation();
    returned();
    returned = undefined;
  } else if (from !== undefined && to !== undefined && location.pathname !== guardedPath && isUnsaved?.()) {
    event.stopImmediatePropagation();
    returned = () => ask(() => history.go(to - from));
    history.go(from - to);
  }
}

// Capturing: before the router's own listener.
addEventListener("popstate", keepPage, true);
