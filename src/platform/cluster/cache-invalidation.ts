/**
 * What is remembered in memory and must be forgotten by every server when one of them changes it. A memory that is
 * declared here needs no time limit of its own: the relay says when something may have been missed.
 */
import type { App } from "../app/context.ts";

/**
 * How long identities and memberships are used without being read again: what another program writes to the database is
 * told to nobody, and is noticed after this.
 */
export const IDENTITY_TTL_MS = 60_000;

interface Memory {
  /** Forgets what the words name. */
  forget: (app: App, ...words: string[]) => void;
  forgetAll: (app: App) => void;
}

const memories = new Map<string, Memory>();

/**
 * Declares a memory.
 * @returns forgets here and has the other servers forget; to be called after the commit of the change
 */
export function forgottenEverywhere<W extends (string | undefined)[]>(
  name: string,
  memory: { forget: (app: App, ...words: W) => void; forgetAll: (app: App) => void },
): (app: App, ...words: W) => void {
  memories.set(name, memory as unknown as Memory);
  return (app, ...words) => {
    memory.forget(app, ...words);
    // What is left out stands at the end.
    app.relay.tell(name, ...words.filter((word) => word !== undefined));
  };
}

/** From now on this server forgets what others have changed. */
export function followForgetting(app: App): void {
  for (const [name, { forget, forgetAll }] of memories) {
    app.relay.on(name, (...words) => forget(app, ...words));
    app.relay.onGap(() => forgetAll(app));
  }
}
