/** Stored triggers: permissions, and the state in the form that clients use. Nothing else about them is checked. */
import { eq } from "drizzle-orm";
import { parsePath } from "../../../../lib/text/paths.ts";
import { requireWriteAccess } from "../../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { type TriggerInput, TriggerStore } from "../trigger-store.ts";
import type { StoredKindName } from "./kinds.ts";
import { type StoredTrigger, storedTriggers } from "./tables.ts";

/** Condition for the rows of a kind. */
export const whereKind = (kind: StoredKindName) => eq(storedTriggers.kind, kind);

export type StoredTriggerStore = TriggerStore<StoredTrigger, "kind">;

export function createStore(kind: StoredKindName, one: string): StoredTriggerStore {
  return new TriggerStore<StoredTrigger, "kind">(storedTriggers, {
    kind: `${kind}_trigger`,
    one,
    rows: whereKind(kind),
    anew: () => ({ kind }),
    changed: () => {},
  });
}

type StoredInput = TriggerInput<StoredTrigger, "kind">;

/** Stores a trigger. @throws BadRequest for a bad or taken path, Forbidden */
export async function createStoredTrigger(
  ctx: WorkspaceContext,
  store: StoredTriggerStore,
  body: StoredInput,
): Promise<void> {
  const path = parsePath(body.path);
  requireWriteAccess(ctx.caller.member, path);
  await store.insert(ctx, { ...body, path });
}

/** Replaces a trigger, and changes its path. Without `enabled` it stays as it is. @throws NotFound, and as `createStoredTrigger` */
export async function updateStoredTrigger(
  ctx: WorkspaceContext,
  store: StoredTriggerStore,
  path: string,
  body: Omit<StoredInput, "enabled"> & { enabled?: boolean },
): Promise<void> {
  const to = parsePath(body.path);
  await store.getMovable(ctx, path, to);
  await store.update(ctx, path, { ...body, path: to });
}

/** Returns the mode: `suspended` if a client said so and it was not enabled since. */
export function toStoredMode({ enabled, value }: Pick<StoredTrigger, "enabled" | "value">) {
  if (enabled) return "enabled" as const;
  return value.mode === "suspended" ? ("suspended" as const) : ("disabled" as const);
}
