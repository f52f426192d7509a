/** Computes the steps that make one side equal to the other. */
import { type ComparedFields, compareItems, isSameItem, isUnsetSecret } from "./read/canonical.ts";
import type { LocalFolder, LocalItem } from "./read/folder.ts";
import { getItemKey, type Item, SYNCED_KINDS } from "./read/items.ts";

export type SyncStep =
  | { change: "create"; item: Item }
  | { change: "change"; item: Item; compared: ComparedFields }
  | { change: "delete"; item: Item };

export interface SyncPlan {
  steps: SyncStep[];
  /** Items that exist only on the side to change, and are not deleted. */
  left: Item[];
}

/**
 * Computes the steps that make the present items equal to the wanted ones.
 * @param wanted the side to match; its keys are the items' keys
 */
function createPlan(
  wanted: Map<string, Item>,
  present: Map<string, Item>,
  compared: (wanted: Item, present: Item) => ComparedFields,
  deletes: boolean,
): SyncPlan {
  const steps: SyncStep[] = [];
  for (const [key, item] of wanted) {
    const now = present.get(key);
    if (!now) steps.push({ change: "create", item });
    else {
      const both = compared(item, now);
      if (!isSameItem(both)) steps.push({ change: "change", item, compared: both });
    }
  }
  const surplus = [...present.values()].filter((item) => !wanted.has(getItemKey(item)));
  if (deletes) for (const item of surplus) steps.push({ change: "delete", item });
  return { steps: steps.sort(compareSteps), left: deletes ? [] : surplus.sort(compareByKind) };
}

/** Plans how to make the service's workspace equal to the folder. */
export function planPush(folder: LocalFolder, remote: Map<string, Item>, deletes: boolean): SyncPlan {
  const plan = createPlan(folder.items, remote, (local, there) => compareItems(local, there), deletes);
  const hasLists = [...folder.items.values()].some(({ kind }) => kind === "dependencies");
  if (hasLists) return plan;
  // A folder without package lists may come from a client that does not know them, so existing lists are kept.
  const isList = (item: Item) => item.kind === "dependencies";
  return {
    steps: plan.steps.filter(({ change, item }) => change !== "delete" || !isList(item)),
    left: plan.left.filter((item) => !isList(item)),
  };
}

/** Removes secrets without a value from the steps that create items, and returns those steps. */
export function takeUnsetSecrets(plan: SyncPlan): SyncStep[] {
  const isUnset = ({ change, item }: SyncStep) => change === "create" && isUnsetSecret(item);
  const unset = plan.steps.filter(isUnset);
  plan.steps = plan.steps.filter((step) => !isUnset(step));
  return unset;
}

/** Plans how to make the folder equal to the service's workspace. */
export function planPull(folder: LocalFolder, remote: Map<string, Item>, deletes: boolean): SyncPlan {
  return createPlan(remote, folder.items, (there, local) => compareItems(local as LocalItem, there), deletes);
}

const kindRank = (item: Item): number => SYNCED_KINDS.indexOf(item.kind);

const compareByKind = (a: Item, b: Item): number => kindRank(a) - kindRank(b) || (a.path < b.path ? -1 : 1);

/** Orders steps: items before those that refer to them; deletions last, in reverse order. */
function compareSteps(a: SyncStep, b: SyncStep): number {
  const [first, second] = [a, b].map(({ change }) => (change === "delete" ? 1 : 0)) as [number, number];
  if (first !== second) return first - second;
  return first ? compareByKind(b.item, a.item) : compareByKind(a.item, b.item);
}
