/**
 * Renamings of users that are in progress (accounts/renaming), as known to every server. Some items are still at the
 * former path and some at the new one, so both usernames refer to the user, and items are looked up at both paths.
 */
import type { Awaitable } from "../../../lib/async/awaitable.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { App, Renaming } from "../../../platform/app/context.ts";
import { defineInvalidation } from "../../../platform/cluster/cache-invalidation.ts";

/** Renamings by workspace; usually empty. */
const renamings = memoizePerApp<App, Map<string, Renaming>>(() => new Map());

/** Announces a renaming on all servers. Call `invalidateMembers` after it. */
export const announceRenaming = defineInvalidation<[workspace_id: string, from: string, to: string]>(
  "renaming",
  {
    forget: (app, workspace_id, from, to) => void renamings(app).set(workspace_id, { from, to }),
    forgetAll() {},
  },
);

/** Ends a renaming on all servers. Call `invalidateMembers` after it. */
export const endRenaming = defineInvalidation<[workspace_id: string]>("renamed", {
  forget: (app, workspace_id) => void renamings(app).delete(workspace_id),
  // If the end of a renaming was missed, all items of the user would stay unchangeable.
  forgetAll: (app) => renamings(app).clear(),
});

export function findRenaming(app: App, workspace_id: string): Renaming | undefined {
  return renamings(app).get(workspace_id);
}

/** Finds an item at a path or, while its owner is being renamed, at the corresponding other path. */
export async function findAtEitherPath<T>(
  app: App,
  workspace_id: string,
  path: string,
  find: (path: string) => Awaitable<T | undefined>,
): Promise<T | undefined> {
  const found = await find(path);
  if (found !== undefined) return found;
  const elsewhere = findOtherPath(app, workspace_id, path);
  return elsewhere === undefined ? undefined : find(elsewhere);
}

/** Returns the other path at which an item may be while its owner is being renamed; undefined if there is none. */
function findOtherPath(app: App, workspace_id: string, path: string): string | undefined {
  const renaming = findRenaming(app, workspace_id);
  if (!renaming) return undefined;
  const { from, to } = renaming;
  for (const [before, after] of [
    [from, to],
    [to, from],
  ]) {
    if (path.startsWith(`u/${before}/`)) return `u/${after}/${path.slice(`u/${before}/`.length)}`;
  }
  return undefined;
}
