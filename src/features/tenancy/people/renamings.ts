/**
 * Renamings of users that are not done yet (accounts/renaming), as every server knows them. What is theirs is partly
 * below the name before and partly below the new one: both names stand for them, and an item is looked for at both.
 */
import { perApp } from "../../../lib/async/per-app.ts";
import type { App, Renaming } from "../../../platform/app/context.ts";
import { defineInvalidation } from "../../../platform/cluster/cache-invalidation.ts";

/** By workspace; usually empty. */
const renamings = perApp<App, Map<string, Renaming>>(() => new Map());

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
  forgetAll() {},
});

export function findRenaming(app: App, workspace_id: string): Renaming | undefined {
  return renamings(app).get(workspace_id);
}

/** Returns where an item may be that is not at `path`, because its owner is being renamed. */
export function findOtherPath(app: App, workspace_id: string, path: string): string | undefined {
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
