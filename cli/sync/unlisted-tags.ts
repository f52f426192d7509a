/** Tags of pushed items that jobs of the workspace may not use: the server stores them, but refuses to run the jobs. */

import { isListedTag } from "../../src/features/runs/job/custom-tags.ts";
import { getCustomTags } from "../client/operations/instance.ts";
import type { Deployment } from "./deploy/deployment.ts";
import type { Item } from "./read/items.ts";

/** Returns a function that lists the tags of an item that are not allowed. */
export async function createTagCheck({ client, workspace }: Deployment): Promise<(item: Item) => string[]> {
  const entries = await client.call(getCustomTags, {});
  return (item) =>
    [...listTags(item)]
      .filter((tag) => !isUnknownYet(tag) && !isAllowed(entries, workspace, tag))
      .map(
        (tag) =>
          `runs for super admins only: the tag ${tag} is not in the setting custom_tags for this workspace`,
      );
}

function listTags({ kind, fields }: Item): Set<string> {
  const found = new Set<unknown>();
  if (["script", "flow", "schedule"].includes(kind)) found.add(fields.tag);
  if (kind === "flow") collectTags(fields.value, found);
  return new Set([...found].filter((tag): tag is string => typeof tag === "string" && tag !== ""));
}

/** Collects the tags of steps, wherever they are nested. */
function collectTags(value: unknown, found: Set<unknown>): void {
  if (typeof value !== "object" || value === null) return;
  if ("type" in value && (value.type === "rawscript" || value.type === "script")) {
    if ("tag" in value) found.add(value.tag);
    if ("tag_override" in value) found.add(value.tag_override);
    return;
  }
  for (const inner of Object.values(value)) collectTags(inner, found);
}

/** Whether a part of the tag is known only when the job runs. */
const isUnknownYet = (tag: string) => tag.includes("$args[") || tag.includes("$flow");

function isAllowed(entries: string[], workspace: string, tag: string): boolean {
  return isListedTag(entries, workspace, { tag: tag.replaceAll("$workspace", workspace), written: tag });
}
