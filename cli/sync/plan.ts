/** What has to be done so that one side becomes as the other is. */
import { type Compared, compare, isSame } from "./read/canonical.ts";
import type { Folder, LocalItem } from "./read/folder.ts";
import { type Item, KINDS, keyOf } from "./read/items.ts";

export type Step =
  | { change: "create"; item: Item }
  | { change: "change"; item: Item; compared: Compared }
  | { change: "delete"; item: Item };

export interface Plan {
  steps: Step[];
  /** What only the side has that is to be changed, and that nobody asked to delete. */
  left: Item[];
}

/** @param wanted the side that is to be reached; the keys are the items' */
function planOf(
  wanted: Map<string, Item>,
  present: Map<string, Item>,
  compared: (wanted: Item, present: Item) => Compared,
  deletes: boolean,
): Plan {
  const steps: Step[] = [];
  for (const [key, item] of wanted) {
    const now = present.get(key);
    if (!now) steps.push({ change: "create", item });
    else {
      const both = compared(item, now);
      if (!isSame(both)) steps.push({ change: "change", item, compared: both });
    }
  }
  const surplus = [...present.values()].filter((item) => !wanted.has(keyOf(item)));
  if (deletes) for (const item of surplus) steps.push({ change: "delete", item });
  return { steps: steps.sort(inOrder), left: deletes ? [] : surplus.sort(byKind) };
}

/** To make the service's workspace as the folder is. */
export function planPush(folder: Folder, remote: Map<string, Item>, deletes: boolean): Plan {
  return planOf(folder.items, remote, (local, there) => compare(local, there), deletes);
}

/** To make the folder as the service's workspace is. */
export function planPull(folder: Folder, remote: Map<string, Item>, deletes: boolean): Plan {
  return planOf(remote, folder.items, (there, local) => compare(local as LocalItem, there), deletes);
}

const rank = (item: Item): number => KINDS.indexOf(item.kind);

const byKind = (a: Item, b: Item): number => rank(a) - rank(b) || (a.path < b.path ? -1 : 1);

/** What is named comes before what names it; what is deleted goes last, the other way round. */
function inOrder(a: Step, b: Step): number {
  const [first, second] = [a, b].map(({ change }) => (change === "delete" ? 1 : 0)) as [number, number];
  if (first !== second) return first - second;
  return first ? byKind(b.item, a.item) : byKind(a.item, b.item);
}
